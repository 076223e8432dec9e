// Each access is locked, the two together are not.
//@ expect: assertion
//@ pair: read write
//@ pattern: lost-update
//@ object: total
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex guard;
static int total;

static void add(int amount) {
    int seen;
    {
        std::lock_guard<std::mutex> hold(guard);
        seen = total; //~ read
    }
    seen += amount;
    {
        std::lock_guard<std::mutex> hold(guard);
        total = seen; //~ write
    }
}

int main() {
    std::thread one(add, 1), two(add, 2);
    one.join();
    two.join();
    assert(total == 3); //~ end
}
