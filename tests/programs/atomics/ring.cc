//@ expect: pass
// A single-producer, single-consumer ring without locks.
#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <thread>

class Ring {
    std::array<int, 3> items{};
    std::atomic<std::size_t> head{0}, tail{0};

  public:
    bool push(int item) {
        auto at = head.load(std::memory_order_relaxed);
        auto next = (at + 1) % items.size();
        if (next == tail.load(std::memory_order_acquire))
            return false;
        items[at] = item;
        head.store(next, std::memory_order_release);
        return true;
    }
    bool pop(int &item) {
        auto at = tail.load(std::memory_order_relaxed);
        if (at == head.load(std::memory_order_acquire))
            return false;
        item = items[at];
        tail.store((at + 1) % items.size(), std::memory_order_release);
        return true;
    }
};

int main() {
    Ring ring;
    std::thread producer([&] {
        for (int i = 0; i < 5;)
            if (ring.push(i))
                i++;
            else
                std::this_thread::yield();
    });
    for (int expected = 0; expected < 5;) {
        int item;
        if (ring.pop(item))
            assert(item == expected++);
        else
            std::this_thread::yield();
    }
    producer.join();
}
