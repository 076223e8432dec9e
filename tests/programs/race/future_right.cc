//@ expect: pass
// A promise hands over its value and what came before it.
#include <future>
#include <thread>

int data, seen;

int main() {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread strand([&promise] {
        data = 1;
        promise.set_value(1);
    });
    future.get();
    seen = data;
    strand.join();
}
