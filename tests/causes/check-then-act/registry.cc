// A name is looked for and put into a list, each under the lock; a logger counts its lines beside it.
//@ expect: assertion
//@ pair: look put
//@ pattern: check-then-act
//@ object: names.count
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Names {
    int count = 0;
    int keys[4] = {};
};

static std::mutex lock;
static Names names;
static std::atomic<int> lines;
static std::atomic<int> created;

static void note() {
    lines.fetch_add(1);
}

static bool has(int key) {
    std::lock_guard<std::mutex> hold(lock);
    for (int i = 0; i < names.count; i++) { //~ look
        if (names.keys[i] == key) return true; //~ match
    }
    return false;
}

static void enter(int key) {
    note();
    if (!has(key)) { //~ looks
        created.fetch_add(1); //~ made
        note();
        std::lock_guard<std::mutex> hold(lock);
        names.keys[names.count] = key; //~ fill
        names.count++; //~ put
    }
}

int main() {
    std::thread one(enter, 4), two(enter, 4);
    one.join();
    two.join();
    assert(created.load() == 1); //~ end
}
