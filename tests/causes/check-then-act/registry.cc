// A name is looked for and put into a map, each under the lock; a logger counts its lines beside it.
//@ expect: assertion
//@ pair: look put
//@ pattern: check-then-act
//@ object: any
#include <atomic>
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static std::map<int, int> names;
static std::atomic<int> lines;
static std::atomic<int> created;

static void note() {
    lines.fetch_add(1);
}

static bool has(int key) {
    std::lock_guard<std::mutex> hold(lock);
    return names.count(key) != 0; //~ look
}

static void enter(int key) {
    note();
    if (!has(key)) { //~ looks
        created.fetch_add(1); //~ made
        note();
        std::lock_guard<std::mutex> hold(lock);
        names[key] = 1; //~ put
    }
}

int main() {
    std::thread one(enter, 4), two(enter, 4);
    one.join();
    two.join();
    assert(created.load() == 1); //~ end
}
