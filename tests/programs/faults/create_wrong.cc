// Nobody catches what the constructor throws.
//@ expect: abort|crash
//@ max-runs: 200
//@ faults: threads
//@ bare: any
#include <cassert>
#include <system_error>
#include <thread>

static int count;

static void work() { count++; }

int main() {
    std::thread(work).join();
    assert(count == 1);
    return 0;
}
