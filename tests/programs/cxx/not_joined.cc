//@ expect: crash
//@ message: SIGABRT
//@ max-runs: 20
//@ bare: any
// A thread that nobody has joined ends the process with its object.
#include <thread>

static int count;

static void start() {
    std::thread strand([] { count++; });
} //~ here

int main() {
    start();
    return 0;
}
