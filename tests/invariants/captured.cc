// A variable of main that lambdas capture by reference.
#include <atomic>
#include <cassert>
#include <thread>

static void enter(std::atomic<int> &inside) {
    int seen = inside.load(); //~ first
    inside.store(seen + 1); //~ last
}

int main() {
    std::atomic<int> inside{0};
    std::thread one([&] { enter(inside); });
    std::thread two([&] { enter(inside); });
    one.join();
    two.join();
    assert(inside.load() == 2);
}
