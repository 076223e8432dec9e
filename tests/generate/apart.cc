// One of two strands does its work, whichever comes first: no run has both calls.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
class Tank {
public:
    Tank(std::string name, int level) : name_(std::move(name)), level_(level) {}
    __attribute__((noinline)) void fill(int by) { level_ += by; }
    __attribute__((noinline)) int drain(int by) { level_ -= by; return level_; }
private:
    std::string name_;
    int level_;
};
static std::atomic<int> taken;
int main() {
    auto tank = std::make_unique<Tank>("the tank behind the house", 10);
    Tank *it = tank.get();
    std::thread one([it] { if (!taken.exchange(1)) it->fill(3); });
    std::thread two([it] { if (!taken.exchange(1)) it->drain(2); });
    one.join(); two.join();
}
