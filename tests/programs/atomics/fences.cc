//@ expect: pass
// Message passing: release store and acquire load, then the same with fences around relaxed accesses.
#include <atomic>
#include <cassert>
#include <thread>

static int payload, fenced;
static std::atomic<bool> ready{false}, fence_ready{false};

int main() {
    std::thread sender([] {
        payload = 1;
        ready.store(true, std::memory_order_release);
        fenced = 2;
        std::atomic_thread_fence(std::memory_order_release);
        fence_ready.store(true, std::memory_order_relaxed);
    });
    std::thread receiver([] {
        if (ready.load(std::memory_order_acquire))
            assert(payload == 1);
        while (!fence_ready.load(std::memory_order_relaxed))
            std::this_thread::yield();
        std::atomic_thread_fence(std::memory_order_acquire);
        assert(fenced == 2 && payload == 1);
    });
    sender.join();
    receiver.join();
}
