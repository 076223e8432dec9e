// What reads are of, by name, where the accesses are in functions of the library, behind its pointers or in closures.

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Account {
    int balance = 0;
};

static std::atomic<int> *counter;

class Queue {
    std::mutex lock;
    std::condition_variable changed;
    std::vector<int> items;
    bool closed = false;

public:
    void push(int item) {
        std::unique_lock<std::mutex> held(lock);
        items.push_back(item); //~ reads this->items
        changed.notify_one();
    }

    void close() {
        std::lock_guard<std::mutex> held(lock);
        closed = true;
        changed.notify_all();
    }

    bool pop(int &item) {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [this] {
            return closed  //~ reads this->closed
                || !items.empty();  //~ reads this->items
        });
        if (items.empty())
            return false;
        item = items.back();
        items.pop_back();
        return true;
    }
};

int main() {
    auto account = std::make_shared<Account>();
    counter = new std::atomic<int>(0);
    Queue queue;
    std::atomic<int> done{0};
    std::thread producer([&] {
        queue.push(1);
        queue.push(2);
        queue.close();
        *counter += 1;  //~ reads *counter
    });
    std::thread consumer([&, account] {
        int item;
        while (queue.pop(item))
            account->balance += item;  //~ reads account->balance
        int before = *counter;  //~ reads *counter
        *counter = before + 1;
        done.store(1, std::memory_order_release);
    });
    int seen = 0;
    if (done.load(std::memory_order_acquire))  //~ reads done
        seen = account->balance;  //~ reads account->balance
    producer.join();
    consumer.join();
    return seen != 0 && seen != 3;
}
