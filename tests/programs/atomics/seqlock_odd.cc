//@ expect: assertion
//@ max-runs: 1000
//@ preemptions: 1
//@ pair: y-set read
//@ pair: x-set read
//@ pair: end compare
// The reader does not look whether a writer is at work when it begins.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<unsigned> sequence{0};
static std::atomic<int> x{0}, y{0};

static void publish(int value) {
    sequence++;
    x = value; //~ x-set
    y = -value; //~ y-set
    sequence++; //~ end
}

static void check() {
    for (;;) {
        unsigned before = sequence;
        int a = x, b = y; //~ read
        if (sequence == before) { //~ compare
            assert(a == -b); //~ here
            return;
        }
    }
}

int main() {
    std::thread writer([] { publish(1); }), reader(check);
    writer.join();
    reader.join();
}
