//@ expect: assertion
//@ max-runs: 500
//@ preemptions: 1
//@ pair: store here
// The same ring, published before the item is written.
#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <thread>

static std::array<std::atomic<int>, 4> items;
static std::atomic<std::size_t> head{0};

int main() {
    std::thread producer([] {
        for (int i = 0; i < 2; i++) {
            auto at = head.fetch_add(1);
            items[at] = i + 1; //~ store
        }
    });
    for (std::size_t tail = 0; tail < 2;)
        if (tail < head) {
            assert(items[tail] != 0); //~ here
            tail++;
        } else {
            std::this_thread::yield();
        }
    producer.join();
}
