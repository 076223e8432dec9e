//@ expect: crash
//@ message: uncaught exception std::runtime_error: no money
//@ max-runs: 20
//@ bare: any
// An exception that a promise carries is thrown again where its future is asked.
#include <future>
#include <stdexcept>
#include <thread>

int main() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread strand([&promise] {
        try {
            throw std::runtime_error("no money");
        } catch (...) {
            promise.set_exception(std::current_exception());
        }
    });
    strand.join();
    return future.get(); //~ here
}
