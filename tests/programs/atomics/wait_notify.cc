//@ expect: pass
// std::atomic::wait and notify for a futex-sized value, for a byte and for a flag; atomic_ref.
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

int main() {
    std::atomic<int> stage{0};
    std::atomic<char> small{0};
    std::atomic_flag flag;
    int plain = 0;
    std::vector<std::thread> strands;
    for (int i = 0; i < 2; i++)
        strands.emplace_back([&] {
            stage.wait(0);
            assert(stage == 1);
            small.wait(0);
            flag.wait(false);
            std::atomic_ref<int>(plain).fetch_add(1);
        });
    stage = 1;
    stage.notify_all();
    small = 1;
    small.notify_all();
    flag.test_and_set();
    flag.notify_all();
    for (auto &strand : strands)
        strand.join();
    assert(plain == 2);
    stage.wait(0);
}
