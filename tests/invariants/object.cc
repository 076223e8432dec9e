// A member of a C++ object on the heap, and a flag: both halves are atomic, the whole is not.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

class Turnstile {
public:
    void enter() {
        int seen = inside.load(); //~ first
        inside.store(seen + 1); //~ last
    }
    int count() const { return inside.load(); }

private:
    std::atomic<int> inside{0};
};

int main() {
    auto turnstile = std::make_unique<Turnstile>();
    std::thread one([&] { turnstile->enter(); });
    std::thread two([&] { turnstile->enter(); });
    one.join();
    two.join();
    assert(turnstile->count() == 2);
}
