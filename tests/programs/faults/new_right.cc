// `new` may throw: it is done without.
//@ expect: pass
//@ runs: 300
//@ faults: memory
#include <cassert>
#include <memory>
#include <new>
#include <vector>

static void fill() {
    std::vector<int> numbers;
    for (int at = 0; at < 100; at++)
        numbers.push_back(at);
    auto last = std::make_unique<int>(numbers.back());
    assert(*last == 99);
}

int main() {
    try {
        fill();
    } catch (const std::bad_alloc &) {
    }
    return 0;
}
