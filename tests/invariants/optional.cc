// What a std::optional holds, counted up in two steps.
#include <cassert>
#include <mutex>
#include <optional>
#include <thread>

static std::mutex lock;
static std::optional<long> newest = 7;

static long now() {
    std::lock_guard<std::mutex> guard(lock);
    return newest ? *newest : 0; //~ first
}

static void count() {
    long value = now();
    std::lock_guard<std::mutex> guard(lock);
    newest = value + 1; //~ last
}

int main() {
    std::thread a(count), b(count);
    a.join();
    b.join();
    assert(now() == 9);
    return 0;
}
