//@ expect: pass
// std::async, eager and deferred; the future's destructor waits.
#include <atomic>
#include <cassert>
#include <future>
#include <numeric>
#include <vector>

static long sum(const std::vector<int> &values, std::size_t from, std::size_t to) {
    if (to - from <= 2)
        return std::accumulate(values.begin() + from, values.begin() + to, 0L);
    auto middle = (from + to) / 2;
    auto left = std::async(std::launch::async, sum, std::cref(values), from, middle);
    long right = sum(values, middle, to);
    return left.get() + right;
}

int main() {
    std::vector<int> values(8);
    std::iota(values.begin(), values.end(), 1);
    assert(sum(values, 0, values.size()) == 36);
    auto lazy = std::async(std::launch::deferred, [] { return 6; });
    assert(lazy.wait_for(std::chrono::seconds(0)) == std::future_status::deferred && lazy.get() == 6);
    std::atomic<bool> done{false};
    { auto waited = std::async(std::launch::async, [&] { done = true; }); }
    assert(done);
}
