//@ expect: pass
// The same with a guard whose every round tries the lock first.
#include <mutex>
#include <thread>
#include <vector>

struct Barrier {
    std::mutex lock;
    int arrived = 0, round = 0;

    void wait(int of) {
        int mine;
        {
            std::lock_guard<std::mutex> guard(lock);
            mine = round;
            if (++arrived == of) {
                arrived = 0;
                round++;
            }
        }
        for (;;) {
            std::unique_lock<std::mutex> guard(lock, std::try_to_lock);
            if (guard && round != mine)
                return;
        }
    }
};

int main() {
    Barrier barrier;
    std::vector<std::thread> strands;
    for (int i = 0; i < 3; i++)
        strands.emplace_back([&barrier] {
            for (int round = 0; round < 2; round++)
                barrier.wait(3);
        });
    for (std::thread &strand : strands)
        strand.join();
}
