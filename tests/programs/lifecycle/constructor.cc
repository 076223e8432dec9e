//@ expect: pass
// A static object has a worker, which its destructor stops and joins.
#include <condition_variable>
#include <mutex>
#include <thread>

class Worker {
    std::mutex lock;
    std::condition_variable changed;
    bool stops = false;
    int asked = 0, done = 0;
    std::thread strand;

    void work() {
        std::unique_lock<std::mutex> guard(lock);
        for (;;) {
            changed.wait(guard, [this] { return stops || done < asked; });
            if (done == asked)
                return;
            done++;
            changed.notify_all();
        }
    }

public:
    Worker() : strand([this] { work(); }) {}

    ~Worker() {
        {
            std::lock_guard<std::mutex> guard(lock);
            stops = true;
        }
        changed.notify_all();
        strand.join();
    }

    void ask() {
        std::unique_lock<std::mutex> guard(lock);
        int mine = ++asked;
        changed.notify_all();
        changed.wait(guard, [this, mine] { return done >= mine; });
    }
};

static Worker worker;

int main() {
    std::thread other([] { worker.ask(); });
    worker.ask();
    other.join();
}
