//@ expect: pass
// std::lock and std::scoped_lock take any number of locks in any order without deadlock.
#include <cassert>
#include <mutex>
#include <thread>

int main() {
    std::mutex a, b, c;
    int turns = 0;
    std::thread one([&] {
        std::scoped_lock all(a, b, c);
        turns++;
    });
    std::thread two([&] {
        std::scoped_lock all(c, b, a);
        turns++;
    });
    {
        std::unique_lock<std::mutex> first(b, std::defer_lock), second(a, std::defer_lock);
        std::lock(first, second);
        turns++;
    }
    one.join();
    two.join();
    assert(turns == 3);
}
