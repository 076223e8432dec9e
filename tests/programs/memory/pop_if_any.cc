//@ expect: pass
// Looking and popping are one critical section.
#include <mutex>
#include <thread>

static std::mutex lock;
static long *items;
static int count = 1;

static void take() {
    std::lock_guard<std::mutex> held(lock);
    if (count > 0)
        items[--count] = 0;
}

int main() {
    items = new long[4]();
    std::thread other(take);
    take();
    other.join();
    delete[] items;
}
