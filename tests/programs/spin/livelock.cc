//@ expect: livelock
//@ timeout: 20s
// A strand waits, yielding, for an answer to a question it asks only afterwards, when the other was slow to start.
#include <atomic>
#include <thread>

int main() {
    std::atomic<bool> started{false}, asked{false}, answered{false};
    std::thread server([&] {
        started = true;
        while (!asked)
            std::this_thread::yield();
        answered = true;
    });
    if (started)
        asked = true;
    while (!answered)
        std::this_thread::yield();
    asked = true;
    server.join();
}
