//@ expect: heap-overflow
//@ message: read of 8 bytes, 8 bytes before a block of 32 bytes
//@ preemptions: 1
//@ pair: look here
// The last item is popped twice.
#include <mutex>
#include <thread>

static std::mutex lock;
static long *items;
static int count = 1;
static volatile long last;

static bool any() {
    std::lock_guard<std::mutex> held(lock);
    return count > 0; //~ look
}

static long pop() {
    std::lock_guard<std::mutex> held(lock);
    return items[--count]; //~ here
}

static void take() {
    if (any())
        last = pop();
}

int main() {
    items = new long[4]();
    std::thread other(take);
    take();
    other.join();
    delete[] items;
}
