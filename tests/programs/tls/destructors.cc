//@ expect: pass
// thread_local objects: built on first use, destroyed in reverse order at the strand's end, before join returns.
#include <atomic>
#include <cassert>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> alive{0}, destroyed{0};
static thread_local std::string *order = nullptr;

struct Noted {
    char name;
    explicit Noted(char name) : name(name) { alive++; }
    ~Noted() {
        alive--;
        destroyed++;
        if (order)
            order->push_back(name);
    }
};

static thread_local Noted first('a');
static thread_local Noted second('b');

static char touch_second() { return second.name; }

int main() {
    std::vector<std::string> orders(3);
    std::vector<std::thread> strands;
    for (auto &mine : orders)
        strands.emplace_back([&mine] {
            order = &mine;
            assert(first.name == 'a');
            thread_local Noted local('c');
            assert(local.name == 'c' && touch_second() == 'b');
        });
    for (auto &strand : strands)
        strand.join();
    for (auto &mine : orders)
        assert(mine == "cba");
    assert(alive == 0 && destroyed == 9);
}
