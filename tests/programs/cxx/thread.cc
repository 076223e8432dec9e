//@ expect: pass
// std::thread: arguments by value, move and reference, ids, swap, detach, hardware_concurrency, members.
#include <cassert>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

struct Counter {
    int value = 0;
    void add(int by) { value += by; }
};

int main() {
    int sum = 0;
    std::string text = "text";
    std::thread a([](int x, int &into) { into += x; }, 4, std::ref(sum));
    std::thread b([](std::unique_ptr<int> p, std::string s) { assert(*p == 3 && s == "text"); }, std::make_unique<int>(3),
                  text);
    assert(a.get_id() != b.get_id() && a.get_id() != std::this_thread::get_id());
    std::thread c(std::move(a));
    assert(!a.joinable() && c.joinable());
    std::swap(a, c);
    a.join();
    b.join();
    assert(sum == 4 && a.get_id() == std::thread::id());
    Counter counter;
    std::thread member(&Counter::add, &counter, 5);
    member.join();
    assert(counter.value == 5 && std::thread::hardware_concurrency() > 0);
    std::promise<int> promise;
    auto result = promise.get_future();
    std::thread([p = std::move(promise)]() mutable { p.set_value(8); }).detach();
    assert(result.get() == 8);
}
