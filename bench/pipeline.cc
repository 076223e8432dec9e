// A pipeline: three strands, each with a bounded channel (a ring, a lock and two condition variables) from the one before it.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

template <class T> class Channel {
public:
    explicit Channel(size_t size) : ring(size) {}
    void send(T value) {
        std::unique_lock<std::mutex> guard(lock);
        room.wait(guard, [this] { return used < ring.size(); });
        ring[(first + used++) % ring.size()] = value;
        filled.notify_one();
    }
    bool receive(T &value) {
        std::unique_lock<std::mutex> guard(lock);
        filled.wait(guard, [this] { return used || closed; });
        if (!used) return false;
        value = ring[first];
        first = (first + 1) % ring.size();
        used--;
        room.notify_one();
        return true;
    }
    void close() {
        std::lock_guard<std::mutex> guard(lock);
        closed = true;
        filled.notify_all();
    }

private:
    std::mutex lock;
    std::condition_variable room, filled;
    std::vector<T> ring;
    size_t first = 0, used = 0;
    bool closed = false;
};

int main() {
    Channel<unsigned long> raw(16), mixed(16);
    unsigned long sum = 0;
    std::thread source([&] {
        for (unsigned long i = 0; i < 50000; i++) raw.send(i);
        raw.close();
    });
    std::thread mixer([&] {
        unsigned long value;
        while (raw.receive(value)) {
            for (int round = 0; round < 20; round++) value = (value ^ value >> 7) * 0x9E3779B97F4A7C15ul;
            mixed.send(value);
        }
        mixed.close();
    });
    std::thread sink([&] {
        unsigned long value;
        while (mixed.receive(value)) sum += value;
    });
    source.join();
    mixer.join();
    sink.join();
    std::printf("%lu\n", sum);
}
