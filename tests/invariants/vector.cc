// Who takes the last of a vector's elements looks first whether there is one, and gives the lock back in between.
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::vector<int> values{1, 2, 3};

static bool is_full() {
    std::lock_guard<std::mutex> guard(lock);
    return values.size() > 1;
}

static void add() {
    int next;
    {
        std::lock_guard<std::mutex> guard(lock);
        next = values.back() + 1; //~ first
    }
    std::lock_guard<std::mutex> guard(lock);
    values.push_back(next); //~ last
}

int main() {
    std::thread a(add), b(add);
    a.join();
    b.join();
    for (std::size_t at = 1; at < values.size(); at++) {
        assert(values[at - 1] < values[at]); //~ look
    }
    return is_full() ? 0 : 1;
}
