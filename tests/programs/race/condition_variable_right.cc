//@ expect: pass
// A queue with a mutex and a condition variable.
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable changed;
int waiting, taken;

int main() {
    std::thread consumer([] {
        for (int i = 0; i < 2; i++) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [] { return waiting > 0; });
            waiting--;
            taken++;
        }
    });
    for (int i = 0; i < 2; i++) {
        {
            std::lock_guard guard(mutex);
            waiting++;
        }
        changed.notify_one();
    }
    mutex.lock();
    volatile bool idle = waiting == 0;
    mutex.unlock();
    (void)idle;
    consumer.join();
}
