//@ expect: race
//@ race: fill use
// A wait with relaxed order ends when the value changes, and brings nothing with it.
#include <atomic>
#include <thread>

#define ORDER std::memory_order_relaxed

std::atomic<int> ready{0};
int data, seen;

int main() {
    std::thread strand([] {
        data = 1; //~ fill
        ready.store(1, std::memory_order_release);
        ready.notify_one();
    });
    ready.wait(0, ORDER);
    seen = data; //~ use
    strand.join();
}
