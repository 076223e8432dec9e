// A thread pool: tasks go through a queue with a lock and a condition variable to four strands, and each leaves its result in a future's place.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
public:
    explicit Pool(int strands) {
        for (int i = 0; i < strands; i++) threads.emplace_back([this] { work(); });
    }
    ~Pool() {
        {
            std::lock_guard<std::mutex> guard(lock);
            closed = true;
        }
        changed.notify_all();
        for (auto &thread : threads) thread.join();
    }
    void give(std::function<void()> task) {
        {
            std::lock_guard<std::mutex> guard(lock);
            tasks.push_back(std::move(task));
        }
        changed.notify_one();
    }

private:
    void work() {
        for (;;) {
            std::function<void()> task;
            {
                std::unique_lock<std::mutex> guard(lock);
                changed.wait(guard, [this] { return closed || !tasks.empty(); });
                if (tasks.empty()) return;
                task = std::move(tasks.front());
                tasks.pop_front();
            }
            task();
        }
    }
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    std::vector<std::thread> threads;
    bool closed = false;
};

int main() {
    const int tasks = 20000, size = 200;
    std::vector<long> results(tasks);
    {
        Pool pool(4);
        for (int task = 0; task < tasks; task++)
            pool.give([&results, task] {
                std::vector<long> own(size);
                for (int i = 0; i < size; i++) own[i] = (long)i * task % 97;
                long sum = 0;
                for (long value : own) sum += value;
                results[task] = sum;
            });
    }
    long sum = 0;
    for (long result : results) sum += result;
    std::printf("%ld\n", sum);
}
