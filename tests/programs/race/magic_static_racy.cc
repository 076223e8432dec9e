//@ expect: race
//@ race: set look
//@ may-race: set set
//@ may-race: make make
//@ may-race: make use
// An instance behind a plain flag.
#include <thread>

struct Instance {
    int value;
    explicit Instance(int value) : value(value) {} //~ make
};

thread_local volatile int seen;

alignas(Instance) char memory[sizeof(Instance)];
bool made;

static Instance &instance() {
    if (!made) { //~ look
        new (memory) Instance(1);
        made = true; //~ set
    }
    return *reinterpret_cast<Instance *>(memory);
}

static void work() {
    seen = instance().value; //~ use
}

int main() {
    std::thread a(work), b(work);
    a.join();
    b.join();
}
