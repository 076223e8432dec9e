//@ expect: race
//@ race: fill use
// One strand uses the data without asking whether they are there.
#include <mutex>
#include <thread>

std::once_flag once;
int data;
thread_local volatile int seen;

static void fill() {
    data = 1; //~ fill
}

int main() {
    std::thread a([] {
        std::call_once(once, fill);
        seen = data;
    });
    std::thread b([] {
        seen = data; //~ use
    });
    a.join();
    b.join();
}
