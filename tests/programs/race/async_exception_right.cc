//@ expect: pass
// An exception comes to the getter with what came before it; both strands look at it, the last one frees it.
#include <future>
#include <stdexcept>
#include <thread>

int data, seen;

int main() {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread strand([&promise] {
        data = 1;
        try {
            throw std::runtime_error("a message that is longer than what fits in place");
        } catch (const std::exception &error) {
            promise.set_exception(std::current_exception());
            seen = error.what()[0];
        }
    });
    volatile char first = 0;
    try {
        future.get();
    } catch (const std::exception &error) {
        first = error.what()[0];
    }
    volatile int copy = data;
    (void)first, (void)copy;
    strand.join();
}
