//@ expect: use-after-destroy
//@ message: condition variable that strand 0 has destroyed
//@ max-runs: 200
//@ bare: any
// A condition variable of C++ ends with its scope, and the one that was waited for notifies it behind the lock.
#include <condition_variable>
#include <mutex>
#include <thread>

struct Event {
    std::mutex lock;
    std::condition_variable changed;
    bool done = false;

    void set() {
        {
            std::lock_guard<std::mutex> guard(lock);
            done = true;
        }
        changed.notify_one(); //~ here
    }

    void wait() {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [this] { return done; });
    }
};

int main() {
    std::thread strand;
    {
        Event event;
        strand = std::thread([&event] { event.set(); });
        event.wait();
    }
    strand.join();
}
