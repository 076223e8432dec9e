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
    __attribute__((noinline)) void push(int item) {
        std::lock_guard<std::mutex> guard(lock);
        items[count] = item; //~ address=arg0+0x48|arg0+0x8|arg0+0x28|queue lock=arg0
        count++; //~ address=arg0+0x48|arg0+0x28|queue lock=arg0
    }
    __attribute__((noinline)) int pop() {
        std::unique_lock<std::mutex> guard(lock);
        if (count == 0) //~ address=arg0+0x48 lock=arg0
            return -1;
        count--; //~ address=arg0+0x48 lock=arg0
        return items[count]; //~ address=arg0+0x48|arg0+0x28|arg0+0x24|arg0+0x8 lock=arg0
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
