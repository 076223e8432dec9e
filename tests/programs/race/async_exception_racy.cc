//@ expect: race
//@ race: late use
// An exception is kept for the getter; the strand goes on writing.
#include <future>
#include <stdexcept>
#include <thread>

int data, seen;

int main() {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread strand([&promise] {
        try {
            throw std::runtime_error("a message that is longer than what fits in place");
        } catch (const std::exception &error) {
            promise.set_exception(std::current_exception());
            seen = error.what()[0];
        }
        data = 1; //~ late
    });
    volatile char first = 0;
    try {
        future.get();
    } catch (const std::exception &error) {
        first = error.what()[0];
    }
    volatile int copy = data; //~ use
    (void)first, (void)copy;
    strand.join();
}
