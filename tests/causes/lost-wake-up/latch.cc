// Two strands wait at a latch, and the last one that arrives wakes one of them.
//@ expect: deadlock
//@ pair: waits arrives
//@ pattern: order-violation|lost-wake-up
//@ object: any
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>
class Latch {
    std::mutex m; std::condition_variable cv; int count;
public:
    explicit Latch(int n) : count(n) {}
    void arrive() { std::unique_lock<std::mutex> l(m); if (--count == 0) cv.notify_one(); } //~ arrives
    void wait() { std::unique_lock<std::mutex> l(m); while (count > 0) cv.wait(l); } //~ waits
};
int main() {
    Latch latch(1);
    std::thread a([&] { latch.wait(); }), b([&] { latch.wait(); }), c([&] { latch.arrive(); }); //~ starts
    a.join(); b.join(); c.join();
}
