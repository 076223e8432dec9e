// A strand may not be created: its work is done here.
//@ expect: pass
//@ runs: 300
//@ faults: threads
#include <cassert>
#include <system_error>
#include <thread>

static int count;

static void work() { count++; }

int main() {
    try {
        std::thread(work).join();
    } catch (const std::system_error &) {
        work();
    }
    assert(count == 1);
    return 0;
}
