//@ expect: assertion
//@ preemptions: 1
//@ pair: add read
// Each account has a lock of its own; the sum over both is read between the two halves of a transfer.
#include <cassert>
#include <mutex>
#include <thread>

struct Account {
    std::mutex lock;
    int balance = 100;
    void add(int amount) {
        std::lock_guard<std::mutex> guard(lock);
        balance += amount; //~ add
    }
    int read() {
        std::lock_guard<std::mutex> guard(lock);
        return balance; //~ read
    }
};

int main() {
    Account a, b;
    std::thread transfer([&] {
        a.add(-30); //~ takes
        b.add(30); //~ gives
    });
    int sum = a.read() + b.read(); //~ sums
    transfer.join();
    assert(sum == 200); //~ here
}
