//@ expect: pass
// std::counting_semaphore and std::binary_semaphore, several strands release, one acquires each. More than one strand
// that acquires would meet a lost wake-up of libstdc++ 12 itself: it sleeps on the value it read before it spun.
#include <cassert>
#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main() {
    std::counting_semaphore<8> items(0);
    std::binary_semaphore done(0);
    std::vector<std::thread> strands;
    int received = 0;
    for (int i = 0; i < 3; i++)
        strands.emplace_back([&, i] { items.release(i == 0 ? 2 : 1); });
    strands.emplace_back([&] {
        for (; received < 4; received++)
            items.acquire();
        done.release();
    });
    assert(!done.try_acquire_for(0ms) || received == 4);
    for (auto &strand : strands)
        strand.join();
    assert(received == 4 && !items.try_acquire() && !items.try_acquire_for(1ms));
    done.try_acquire();
    done.release();
    assert(done.try_acquire_until(std::chrono::steady_clock::now() + 1ms) && !done.try_acquire());
}
