// Figures 1 and 4 of the paper: two methods that change one number. With an argument they take a lock.
#include <cstdio>
#include <mutex>
#include <thread>

class Account {
  public:
    explicit Account(bool locked) : locked(locked) {}

    void increment(int amount) {
        std::unique_lock<std::mutex> held(guard, std::defer_lock);
        if (locked) held.lock();
        x = x + amount; //~ increment
    }

    void decrement(int amount) {
        std::unique_lock<std::mutex> held(guard, std::defer_lock);
        if (locked) held.lock();
        if (x >= amount) x = x - amount; //~ decrement
    }

    int value() const { return x; }

  private:
    bool locked;
    int x = 350;
    std::mutex guard;
};

int main(int argc, char **) {
    Account account(argc > 1);
    std::thread one([&] { account.increment(500); });
    std::thread two([&] { account.decrement(200); });
    one.join();
    two.join();
    std::printf("%d\n", account.value() > 0);
    return 0;
}
