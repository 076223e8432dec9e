//@ expect: pass
// Every form of new and delete, containers that move between strands, shared and weak pointers.
#include <cassert>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

struct alignas(128) Wide {
    char bytes[128];
};

int main() {
    auto shared = std::make_shared<std::vector<std::string>>();
    std::weak_ptr<std::vector<std::string>> weak = shared;
    std::mutex lock;
    std::vector<std::thread> strands;
    for (int i = 0; i < 3; i++)
        strands.emplace_back([&lock, mine = shared, weak, i] {
            auto wide = std::make_unique<Wide[]>(2);
            assert(reinterpret_cast<std::uintptr_t>(wide.get()) % 128 == 0);
            int *none = new (std::nothrow) int[3]{1, 2, 3};
            assert(none[2] == 3);
            delete[] none;
            std::lock_guard guard(lock);
            mine->push_back(std::string(40, static_cast<char>('a' + i)));
            assert(weak.lock() == mine);
        });
    for (auto &strand : strands)
        strand.join();
    strands.clear();
    assert(shared.use_count() == 1 && shared->size() == 3);
    shared.reset();
    assert(weak.expired());
}
