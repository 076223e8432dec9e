//@ expect: deadlock
//@ max-runs: 2000
//@ preemptions: 0
// A queue of capacity one with a single condition variable and notify_one.
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class Channel {
    std::mutex lock;
    std::condition_variable changed;
    std::queue<int> items;

  public:
    void send(int item) {
        std::unique_lock guard(lock);
        changed.wait(guard, [&] { return items.empty(); });
        items.push(item);
        changed.notify_one();
    }
    int receive() {
        std::unique_lock guard(lock);
        changed.wait(guard, [&] { return !items.empty(); });
        int item = items.front();
        items.pop();
        changed.notify_one();
        return item;
    }
};

int main() {
    Channel channel;
    std::vector<std::thread> strands;
    for (int i = 0; i < 3; i++)
        strands.emplace_back([&] { channel.receive(); });
    for (int i = 0; i < 3; i++)
        strands.emplace_back([&, i] { channel.send(i); });
    for (auto &strand : strands)
        strand.join();
}
