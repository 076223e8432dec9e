//@ expect: pass
// call_once: whoever comes later has what the first one did.
#include <mutex>
#include <thread>

std::once_flag once;
int data;
thread_local volatile int seen;

static void fill() {
    data = 1;
}

int main() {
    std::thread a([] {
        std::call_once(once, fill);
        seen = data;
    });
    std::thread b([] {
        std::call_once(once, fill);
        seen = data;
    });
    a.join();
    b.join();
}
