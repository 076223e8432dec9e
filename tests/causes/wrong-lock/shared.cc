// A lock for readers around a change.
//@ expect: assertion
//@ pair: change change
//@ pattern: lost-update
//@ object: table.size|size
#include <cassert>
#include <shared_mutex>
#include <thread>

static struct {
    std::shared_mutex lock;
    int size = 0;
} table;

static void grow() {
    std::shared_lock<std::shared_mutex> hold(table.lock);
    table.size += 1; //~ change
}

int main() {
    std::thread a(grow), b(grow);
    a.join();
    b.join();
    assert(table.size == 2); //~ end
}
