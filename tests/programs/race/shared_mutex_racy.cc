//@ expect: race
//@ race: bump bump
// A shared lock where an exclusive one is needed.
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int total;

static void work() {
    std::shared_lock lock(mutex);
    total++; //~ bump
}

int main() {
    std::thread a(work), b(work);
    a.join();
    b.join();
}
