//@ expect: pass
// Each strand has a shared_ptr of its own; the last owner destroys what all of them wrote.
#include <memory>
#include <thread>

struct Pair {
    int values[2] = {0, 0};
};

int main() {
    auto shared = std::make_shared<Pair>();
    std::thread a([own = shared]() mutable {
        own->values[0] = 1;
        own.reset();
    });
    std::thread b([own = shared]() mutable {
        own->values[1] = 1;
        own.reset();
    });
    shared.reset();
    a.join();
    b.join();
}
