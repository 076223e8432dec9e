//@ expect: crash
//@ message: SIGABRT: uncaught exception std::
// An exception that nobody catches, thrown only when the queue was closed first.
#include <mutex>
#include <stdexcept>
#include <thread>

int main() {
    std::mutex lock;
    bool closed = false;
    std::thread sender([&] {
        std::lock_guard guard(lock);
        if (closed)
            throw std::logic_error("the queue is closed");
    });
    {
        std::lock_guard guard(lock);
        closed = true;
    }
    sender.join();
}
