//@ expect: use-after-destroy
//@ max-runs: 100
//@ bare: any
// A channel is closed while a sender may still be on its way to notify: the storage stays, the channel does not.
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

struct Channel {
    std::condition_variable filled;
    bool full = false;
};

static std::mutex lock;
static std::optional<Channel> channel;

int main() {
    channel.emplace();
    std::thread sender([] {
        {
            std::lock_guard<std::mutex> guard(lock);
            channel->full = true;
        }
        channel->filled.notify_one(); //~ here
    });
    {
        std::unique_lock<std::mutex> guard(lock);
        channel->filled.wait(guard, [] { return channel->full; });
    }
    channel.reset();
    sender.join();
}
