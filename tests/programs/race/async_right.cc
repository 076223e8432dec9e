//@ expect: pass
// The result of an asynchronous call is used behind get().
#include <future>

int data, seen;

int main() {
    auto future = std::async(std::launch::async, [] {
        data = 1;
        return 1;
    });
    future.get();
    seen = data;
}
