//@ expect: deadlock
//@ message: waits for a signal on `queue.not_empty`
// Closing a queue of main's own wakes one of those who wait for items, and all have to go on.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

template <class Item> class Queue {
    std::mutex mutex;
    std::condition_variable not_empty;
    std::deque<Item> items;
    bool closed = false;

public:
    void push(Item item) {
        std::lock_guard guard(mutex);
        items.push_back(item);
        not_empty.notify_one();
    }

    std::optional<Item> pop() {
        std::unique_lock guard(mutex);
        not_empty.wait(guard, [&] { return closed || !items.empty(); });
        if (items.empty())
            return {};
        Item item = items.front();
        items.pop_front();
        return item;
    }

    void close() {
        std::lock_guard guard(mutex);
        closed = true;
        not_empty.notify_one();
    }
};

int main() {
    Queue<int> queue;
    std::vector<std::thread> strands;
    for (int i = 0; i < 2; i++)
        strands.emplace_back([&] {
            while (queue.pop()) {
            }
        });
    queue.push(1);
    queue.close();
    for (auto &strand : strands)
        strand.join();
    return 0;
}
