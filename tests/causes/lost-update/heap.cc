// An object of the heap with a getter and a setter; a log with a lock of its own beside it.
//@ expect: assertion
//@ pair: get set
//@ pattern: lost-update
//@ object: balance|Account.balance|account.balance|*account.balance|account->balance|balance_|Account::balance
//@ caller: reads writes
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

struct Log {
    std::mutex lock;
    int lines = 0;
    void say() {
        std::lock_guard<std::mutex> guard(lock);
        ++lines;
    }
};

class Account {
    long id = 3;
    long balance = 0;

public:
    long get() const {
        return balance; //~ get
    }
    void set(long value) {
        balance = value; //~ set
    }
};

static Log journal;

static void deposit(Account *account, long amount) {
    journal.say();
    long old = account->get(); //~ reads
    journal.say();
    account->set(old + amount); //~ writes
    journal.say();
}

int main() {
    auto account = std::make_unique<Account>();
    std::thread one(deposit, account.get(), 1), two(deposit, account.get(), 2);
    one.join();
    two.join();
    assert(account->get() == 3); //~ end
}
