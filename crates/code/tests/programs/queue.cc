#include <mutex>
#include <thread>
#include <vector>
#include <atomic>
#include <memory>
struct Queue {
    std::mutex lock;
    int items[8];
    int count = 0;
    std::atomic<int> seen{0};
    void push(int item) {
        std::lock_guard<std::mutex> guard(lock);
        items[count++] = item;
    }
    int pop() {
        std::unique_lock<std::mutex> guard(lock);
        return count ? items[--count] : -1;
    }
};
struct Shape { virtual int area() const { return side; } virtual ~Shape() = default; int side = 3; };
struct Square : Shape { int area() const override { return side * side; } };
Queue queue;
int main() {
    auto shape = std::make_shared<Square>();
    std::vector<std::thread> strands;
    for (int i = 0; i < 3; i++)
        strands.emplace_back([i, shape] { queue.push(i); queue.seen += shape->area(); if (queue.pop() < 0) queue.seen.store(1); });
    for (auto &strand : strands)
        strand.join();
    return queue.count + queue.seen.load();
}
