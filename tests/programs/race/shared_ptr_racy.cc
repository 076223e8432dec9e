//@ expect: race|use-after-free
//@ race: assign copy
// One shared_ptr, assigned by one strand and copied by another: its count is atomic, it is not.
#include <memory>
#include <thread>

struct Pair {
    int values[2] = {0, 0};
};

int main() {
    auto shared = std::make_shared<Pair>();
    auto other = std::make_shared<Pair>();
    std::thread a([&] {
        shared = other; //~ assign
    });
    std::shared_ptr<Pair> copy;
    copy = shared; //~ copy
    a.join();
}
