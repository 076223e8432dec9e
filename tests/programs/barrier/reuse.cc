//@ expect: assertion
//@ max-runs: 1000
// A counting barrier that is never reset: the second phase does not wait for anybody.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

class Barrier {
    std::mutex lock;
    std::condition_variable complete;
    int waiting = 0;
    const int count;

  public:
    explicit Barrier(int count) : count(count) {}
    void wait() {
        std::unique_lock guard(lock);
        if (++waiting >= count)
            complete.notify_all();
        complete.wait(guard, [&] { return waiting >= count; });
    }
};

int main() {
    Barrier barrier(2);
    std::atomic<int> first{0}, second{0};
    auto work = [&](std::atomic<int> &mine, std::atomic<int> &other) {
        for (int phase = 1; phase <= 2; phase++) {
            mine = phase;
            barrier.wait();
            assert(other >= phase); //~ here
        }
    };
    std::thread a([&] { work(first, second); });
    std::thread b([&] { work(second, first); });
    a.join();
    b.join();
}
