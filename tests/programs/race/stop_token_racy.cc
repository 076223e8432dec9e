//@ expect: race
//@ race: fill use
// The data come behind the request to stop.
#include <stop_token>
#include <thread>

int data, seen;

int main() {
    std::jthread strand([](std::stop_token stop) {
        while (!stop.stop_requested())
            std::this_thread::yield();
        seen = data; //~ use
    });
    strand.request_stop();
    data = 1; //~ fill
}
