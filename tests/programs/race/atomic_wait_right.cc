//@ expect: pass
// A wait with acquire order.
#include <atomic>
#include <thread>

#define ORDER std::memory_order_acquire

std::atomic<int> ready{0};
int data, seen;

int main() {
    std::thread strand([] {
        data = 1;
        ready.store(1, std::memory_order_release);
        ready.notify_one();
    });
    ready.wait(0, ORDER);
    seen = data;
    strand.join();
}
