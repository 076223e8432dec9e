// A reader of a sequence lock that does not look at the number again.
//@ expect: assertion
//@ pair: left get_left
//@ pair: right get_right
//@ pair: odd even
//@ pair: odd look
//@ pattern: torn-pair|check-then-act
//@ object: pair.left|pair.right|sequence|left|right
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<unsigned> sequence;
static struct {
    std::atomic<int> left, right;
} pair;
static std::atomic<int> waits, rounds;

static void set() {
    rounds++;
    sequence++; //~ odd
    pair.left = 7; //~ left
    pair.right = 7; //~ right
    sequence++; //~ even
    rounds++;
}

static void get() {
    rounds++;
    while (sequence % 2 == 1) waits++; //~ look
    int left = pair.left; //~ get_left
    int right = pair.right; //~ get_right
    rounds++;
    assert(left == right); //~ end
}

int main() {
    std::thread a(set), b(get);
    a.join();
    b.join();
}
