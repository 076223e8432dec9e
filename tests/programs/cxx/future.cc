//@ expect: pass
// promise, shared_future, packaged_task, broken promises and exceptions through them.
#include <cassert>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

int main() {
    std::promise<int> promise;
    std::shared_future<int> shared = promise.get_future().share();
    std::vector<std::thread> readers;
    for (int i = 0; i < 2; i++)
        readers.emplace_back([shared] { assert(shared.get() == 11); });
    std::packaged_task<int(int)> task([](int x) { return x * 2; });
    auto doubled = task.get_future();
    std::thread worker(std::move(task), 21);
    promise.set_value(11);
    assert(doubled.get() == 42);
    worker.join();
    for (auto &reader : readers)
        reader.join();

    std::promise<void> failing, late;
    auto failed = failing.get_future();
    auto at_exit = late.get_future();
    std::thread thrower([&failing, late = std::move(late)]() mutable {
        failing.set_exception(std::make_exception_ptr(std::out_of_range("too far")));
        late.set_value_at_thread_exit();
    });
    try {
        failed.get();
        assert(false);
    } catch (const std::out_of_range &error) {
        assert(std::string(error.what()) == "too far");
    }
    at_exit.wait();
    thrower.join();

    std::future<int> orphan;
    std::thread dropper([&orphan] {
        std::promise<int> gone;
        orphan = gone.get_future();
    });
    dropper.join();
    try {
        orphan.get();
        assert(false);
    } catch (const std::future_error &error) {
        assert(error.code() == std::future_errc::broken_promise);
    }
}
