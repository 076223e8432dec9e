//@ expect: pass
//@ suppress: race:std::_Sp_atomic
// std::atomic<std::shared_ptr>: readers keep what they loaded while the writer replaces it.
// libstdc++ 12 gives its lock back with relaxed order after a load; later ones say in annotations that it is meant so.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

struct Config {
    int version, checksum;
    explicit Config(int version) : version(version), checksum(-version) {}
};

int main() {
    std::atomic<std::shared_ptr<Config>> current{std::make_shared<Config>(0)};
    std::thread writer([&] {
        for (int i = 1; i <= 3; i++)
            current.store(std::make_shared<Config>(i));
    });
    std::thread reader([&] {
        int last = 0;
        for (int i = 0; i < 3; i++) {
            auto seen = current.load();
            assert(seen->version == -seen->checksum && seen->version >= last);
            last = seen->version;
        }
    });
    writer.join();
    reader.join();
    auto last = current.exchange(nullptr);
    assert(last->version == 3 && last.use_count() == 1);
}
