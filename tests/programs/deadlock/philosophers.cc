//@ expect: deadlock
//@ max-runs: 1500
//@ preemptions: 1
//@ pair: left right
// Five philosophers around std::mutex forks.
#include <array>
#include <barrier>
#include <mutex>
#include <thread>

int main() {
    std::array<std::mutex, 5> forks;
    std::barrier seated(5);
    std::array<std::jthread, 5> seats;
    for (int seat = 0; seat < 5; seat++)
        seats[seat] = std::jthread([&, seat] {
            seated.arrive_and_wait();
            std::unique_lock left(forks[seat]); //~ left
            std::unique_lock right(forks[(seat + 1) % 5]); //~ right
        });
}
