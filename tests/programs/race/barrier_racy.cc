//@ expect: race
//@ race: fill use
// A strand reads before the barrier what another writes before it.
#include <barrier>
#include <thread>

int data[2], sum;
thread_local volatile int seen;

struct Sum {
    void operator()() noexcept { sum = data[0] + data[1]; }
};

std::barrier<Sum> both(2);

static void work(int own) {
    data[own] = 1; //~ fill
    seen = data[1 - own]; //~ use
    both.arrive_and_wait();
}

int main() {
    std::thread a(work, 0), b(work, 1);
    a.join();
    b.join();
}
