//@ expect: pass
// The list shares the ownership of its observers.
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Observer {
    std::mutex own;
    int events = 0;
    void notify() {
        std::lock_guard<std::mutex> held(own);
        events++;
    }
};

static std::mutex lock;
static std::vector<std::shared_ptr<Observer>> observers;

static void publish() {
    std::vector<std::shared_ptr<Observer>> copy;
    {
        std::lock_guard<std::mutex> held(lock);
        copy = observers;
    }
    for (auto &observer : copy)
        observer->notify();
}

int main() {
    auto observer = std::make_shared<Observer>();
    observers.push_back(observer);
    std::thread publisher(publish);
    {
        std::lock_guard<std::mutex> held(lock);
        observers.clear();
    }
    observer.reset();
    publisher.join();
}
