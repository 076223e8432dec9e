//@ expect: race
//@ race: take give
// The queue is looked at without the mutex.
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
            waiting--; //~ take
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
    volatile bool idle = waiting == 0; //~ give
    (void)idle;
    consumer.join();
}
