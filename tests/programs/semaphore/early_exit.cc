//@ expect: deadlock
// A worker that finds the list empty leaves without giving its permit back.
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

int main() {
    std::binary_semaphore gate(1);
    std::mutex lock;
    std::vector<int> jobs{1};
    auto work = [&] {
        gate.acquire();
        std::unique_lock guard(lock);
        if (jobs.empty())
            return;
        jobs.pop_back();
        guard.unlock();
        gate.release();
    };
    auto refill = [&] {
        std::lock_guard guard(lock);
        jobs.push_back(2);
        jobs.push_back(3);
    };
    std::thread filler(refill), a(work), b(work), c(work);
    filler.join();
    a.join();
    b.join();
    c.join();
}
