//@ expect: pass
// A static variable of a function is made once, for everybody.
#include <thread>

struct Instance {
    int value;
    explicit Instance(int value) : value(value) {}
};

thread_local volatile int seen;

static Instance &instance() {
    static Instance it(std::this_thread::get_id() == std::thread::id() ? 2 : 1);
    return it;
}

static void work() {
    seen = instance().value;
}

int main() {
    std::thread a(work), b(work);
    a.join();
    b.join();
}
