//@ expect: use-after-free
// An observer that unsubscribed and was deleted is still in the copy of the list that is being notified.
#include <algorithm>
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
static std::vector<Observer *> observers;

static void publish() {
    std::vector<Observer *> copy;
    {
        std::lock_guard<std::mutex> held(lock);
        copy = observers;
    }
    for (Observer *observer : copy)
        observer->notify();
}

int main() {
    auto *observer = new Observer;
    observers.push_back(observer);
    std::thread publisher(publish);
    {
        std::lock_guard<std::mutex> held(lock);
        observers.clear();
    }
    {
        std::lock_guard<std::mutex> held(observer->own);
    }
    delete observer;
    publisher.join();
}
