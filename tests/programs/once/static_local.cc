//@ expect: pass
// A static local is built once although four strands come to it; a constructor that throws is tried again.
#include <atomic>
#include <cassert>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> built{0}, failed{0};

struct Config {
    std::string name;
    Config() : name("a name too long for the small buffer") { built++; }
};

struct Stubborn {
    Stubborn() {
        if (failed++ == 0)
            throw std::runtime_error("not yet");
    }
};

static const Config &config() {
    static Config instance;
    return instance;
}

static bool stubborn() {
    try {
        static Stubborn instance;
        return true;
    } catch (const std::runtime_error &) {
        return false;
    }
}

int main() {
    std::atomic<int> good{0};
    std::vector<std::thread> strands;
    for (int i = 0; i < 4; i++)
        strands.emplace_back([&] {
            assert(config().name.size() == 36);
            good += stubborn();
        });
    for (auto &strand : strands)
        strand.join();
    assert(built == 1 && failed == 2 && good == 3);
}
