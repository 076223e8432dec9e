//@ expect: pass
//@ runs: 100
// A small pool: jobs with results, jobs that submit jobs, a clean end.
#include <cassert>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
    std::mutex lock;
    std::condition_variable ready;
    std::deque<std::function<void()>> jobs;
    bool closing = false;
    std::vector<std::jthread> workers;

    void work() {
        for (;;) {
            std::unique_lock guard(lock);
            ready.wait(guard, [&] { return closing || !jobs.empty(); });
            if (jobs.empty())
                return;
            auto job = std::move(jobs.front());
            jobs.pop_front();
            guard.unlock();
            job();
        }
    }

  public:
    explicit Pool(int size) {
        for (int i = 0; i < size; i++)
            workers.emplace_back([this] { work(); });
    }
    template <class Job> auto submit(Job job) {
        auto task = std::make_shared<std::packaged_task<decltype(job())()>>(std::move(job));
        auto result = task->get_future();
        {
            std::lock_guard guard(lock);
            jobs.emplace_back([task] { (*task)(); });
        }
        ready.notify_one();
        return result;
    }
    ~Pool() {
        {
            std::lock_guard guard(lock);
            closing = true;
        }
        ready.notify_all();
    }
};

int main() {
    Pool pool(2);
    auto one = pool.submit([] { return 1; });
    auto chained = pool.submit([&pool] { return pool.submit([] { return 2; }); });
    auto failing = pool.submit([]() -> int { throw 5; });
    assert(one.get() + chained.get().get() == 3);
    try {
        failing.get();
        assert(false);
    } catch (int code) {
        assert(code == 5);
    }
}
