// What tests are made of where the functions that can be called are those around the two that meet, and do more than these.
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

// A level that is set to something else for a while: in between less is noted, which neither order leaves.
struct Journal {
    std::mutex lock;
    int level = 0;
    int noted = 0;

    bool takes(int wanted) {
        std::lock_guard<std::mutex> guard(lock);
        return wanted >= level;
    }
    void set(int wanted) {
        std::lock_guard<std::mutex> guard(lock);
        level = wanted;
    }
    void note(int wanted) {
        if (!takes(wanted)) return;
        std::lock_guard<std::mutex> guard(lock);
        noted++;
    }
    void quietly() {
        set(2);
        set(0);
    }
};
static Journal journal;

// Taken by one call and given back by another.
class Desk {
    std::mutex lock;
    int visits = 0;

public:
    __attribute__((noinline)) void take() {
        lock.lock();
        visits++;
    }
    __attribute__((noinline)) void leave() {
        visits += 2;
        lock.unlock();
    }
};
static Desk desk;

// Values that are given by their address, and two objects beside each other on a stack.
class Account {
    std::mutex lock;
    long cents;
    int number;

public:
    Account(int number, long cents) : cents(cents), number(number) {}
    static bool transfer(Account &from, Account &to, long cents) {
        std::scoped_lock both(from.lock, to.lock);
        if (from.cents < cents) return false;
        from.cents -= cents;
        to.cents += cents;
        return true;
    }
};

class Sign {
    std::mutex lock;
    std::size_t letters = 0;

public:
    __attribute__((noinline)) void show(std::string text) {
        std::lock_guard<std::mutex> guard(lock);
        letters += text.size();
    }
};
static Sign sign;

int main() {
    Account one(1, 100), two(2, 50);
    std::thread first([&] {
        journal.note(1);
        Account::transfer(one, two, 30);
        sign.show("open until six in the evening");
    });
    std::thread second([&] {
        journal.quietly();
        Account::transfer(two, one, 20);
        sign.show("closed");
    });
    std::thread third([] {
        desk.take();
        desk.leave();
    });
    desk.take();
    desk.leave();
    first.join();
    second.join();
    third.join();
}
