//@ expect: pass
// Who sees the request to stop has what came before it.
#include <stop_token>
#include <thread>

int data, seen;

int main() {
    std::jthread strand([](std::stop_token stop) {
        while (!stop.stop_requested())
            std::this_thread::yield();
        seen = data;
    });
    data = 1;
    strand.request_stop();
}
