/* Two transfers in opposite directions take the same two locks in opposite orders. */
#include <mutex>
#include <thread>

struct Account {
    std::mutex lock;
    int balance = 100;
};

static Account alice, bob;

static void transfer(Account &from, Account &to, int amount) {
    std::lock_guard<std::mutex> first(from.lock);
    std::lock_guard<std::mutex> second(to.lock);
    from.balance -= amount;
    to.balance += amount;
}

int main() {
    std::thread other([] { transfer(alice, bob, 10); });
    transfer(bob, alice, 20);
    other.join();
    return 0;
}
