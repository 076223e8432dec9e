//@ expect: pass
// A semaphore of one place.
#include <semaphore>
#include <thread>

std::counting_semaphore<2> places(1);
int total;

static void work() {
    places.acquire();
    total++;
    places.release();
}

int main() {
    std::thread a(work), b(work);
    a.join();
    b.join();
}
