//@ expect: pass
// A correct unbounded queue, closed at the end: every item arrives once.
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

class Queue {
    std::mutex lock;
    std::condition_variable ready;
    std::deque<int> items;
    bool closed = false;

  public:
    void push(int item) {
        {
            std::lock_guard guard(lock);
            items.push_back(item);
        }
        ready.notify_one();
    }
    void close() {
        {
            std::lock_guard guard(lock);
            closed = true;
        }
        ready.notify_all();
    }
    std::optional<int> pop() {
        std::unique_lock guard(lock);
        ready.wait(guard, [&] { return closed || !items.empty(); });
        if (items.empty())
            return std::nullopt;
        int item = items.front();
        items.pop_front();
        return item;
    }
};

int main() {
    Queue queue;
    int sums[2] = {0, 0};
    std::vector<std::thread> consumers;
    for (int &sum : sums)
        consumers.emplace_back([&queue, &sum] {
            while (auto item = queue.pop())
                sum += *item;
        });
    std::thread producer([&] {
        for (int i = 1; i <= 4; i++)
            queue.push(i);
    });
    producer.join();
    queue.close();
    for (auto &consumer : consumers)
        consumer.join();
    assert(sums[0] + sums[1] == 10);
}
