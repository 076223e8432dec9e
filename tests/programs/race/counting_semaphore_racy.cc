//@ expect: race
//@ race: bump bump
// A semaphore of two places.
#include <semaphore>
#include <thread>

std::counting_semaphore<2> places(2);
int total;

static void work() {
    places.acquire();
    total++; //~ bump
}

int main() {
    std::thread a(work), b(work);
    a.join();
    b.join();
}
