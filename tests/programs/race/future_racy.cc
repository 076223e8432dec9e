//@ expect: race
//@ race: late use
// What the promise's strand writes behind set_value is not handed over.
#include <future>
#include <thread>

int data, seen;

int main() {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread strand([&promise] {
        promise.set_value(1);
        data = 1; //~ late
    });
    future.get();
    seen = data; //~ use
    strand.join();
}
