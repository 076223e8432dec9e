// An audit between the two halves of a transfer; each half is locked.
//@ expect: assertion
//@ pair: take see_from
//@ pair: give see_to
//@ pattern: torn-pair
//@ object: Account.balance
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

struct Account {
    std::mutex lock;
    int balance;
};

static void transfer(Account *from, Account *to) {
    {
        std::lock_guard<std::mutex> hold(from->lock);
        from->balance -= 10; //~ take
    }
    std::lock_guard<std::mutex> hold(to->lock);
    to->balance += 10; //~ give
}

int main() {
    auto from = std::make_unique<Account>(), to = std::make_unique<Account>();
    from->balance = 50;
    to->balance = 50;
    std::thread mover(transfer, from.get(), to.get());
    int sum = 0;
    {
        std::lock_guard<std::mutex> hold(from->lock);
        sum += from->balance; //~ see_from
    }
    {
        std::lock_guard<std::mutex> hold(to->lock);
        sum += to->balance; //~ see_to
    }
    assert(sum == 100); //~ end
    mover.join();
}
