//@ expect: race
//@ race: write read
// The pointer is read under the mutex; what it points to is not.
#include <memory>
#include <mutex>
#include <thread>

std::mutex mutex;
std::shared_ptr<int> shared = std::make_shared<int>(0);
int seen;

int main() {
    std::thread a([] {
        std::lock_guard guard(mutex);
        *shared = 1; //~ write
    });
    std::shared_ptr<int> copy;
    {
        std::lock_guard guard(mutex);
        copy = shared;
    }
    seen = *copy; //~ read
    a.join();
}
