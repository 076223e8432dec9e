// A withdrawal of an amount that its caller says, in two steps.
#include <cassert>
#include <thread>

struct Account {
    long balance = 1000;
    [[gnu::noinline]] void withdraw(long amount) {
        long now = balance; //~ first
        balance = now - amount; //~ last
    }
};

static Account account;

int main() {
    std::thread small([] {
        account.withdraw(30);
        account.withdraw(20);
    });
    std::thread large([] {
        account.withdraw(200);
        account.withdraw(150);
    });
    small.join();
    large.join();
    assert(account.balance == 600);
    return 0;
}
