//@ expect: pass
// The pointer and what it points to are used under the mutex.
#include <memory>
#include <mutex>
#include <thread>

std::mutex mutex;
std::shared_ptr<int> shared = std::make_shared<int>(0);
int seen;

int main() {
    std::thread a([] {
        std::lock_guard guard(mutex);
        *shared = 1;
    });
    std::shared_ptr<int> copy;
    {
        std::lock_guard guard(mutex);
        copy = shared;
        seen = *copy;
    }
    a.join();
}
