//@ expect: pass
// jthread joins by itself; stop tokens, callbacks registered before and after the stop.
#include <atomic>
#include <cassert>
#include <stop_token>
#include <thread>

int main() {
    std::atomic<int> rounds{0}, called{0};
    {
        std::jthread worker([&](std::stop_token stop) {
            std::stop_callback callback(stop, [&] { called++; });
            while (!stop.stop_requested()) {
                rounds++;
                std::this_thread::yield();
            }
        });
        while (rounds == 0)
            std::this_thread::yield();
        assert(worker.request_stop() && !worker.request_stop());
        std::stop_callback late(worker.get_stop_token(), [&] { called += 10; });
    }
    assert(rounds >= 1 && called == 11);
    std::stop_source source;
    std::atomic<int> stopped{0};
    {
        std::jthread a([&, stop = source.get_token()] {
            while (!stop.stop_requested())
                std::this_thread::yield();
            stopped++;
        });
        std::jthread b([&] { source.request_stop(); });
    }
    assert(stopped == 1);
}
