//@ expect: pass
// Exclusive locks for the writers, a shared one for the reader.
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int total;

static void work() {
    std::unique_lock lock(mutex);
    total++;
}

int main() {
    std::thread a(work), b(work);
    mutex.lock_shared();
    volatile int seen = total;
    mutex.unlock_shared();
    (void)seen;
    a.join();
    b.join();
}
