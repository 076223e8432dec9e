//@ expect: race
//@ race: fill use
// The result of an asynchronous call is used before get().
#include <future>

int data, seen;

int main() {
    auto future = std::async(std::launch::async, [] {
        data = 1; //~ fill
        return 1;
    });
    seen = data; //~ use
    future.get();
}
