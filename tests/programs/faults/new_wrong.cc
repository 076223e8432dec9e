// Nobody catches `bad_alloc`.
//@ expect: abort|crash
//@ max-runs: 200
//@ faults: memory
//@ bare: any
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
    fill();
    return 0;
}
