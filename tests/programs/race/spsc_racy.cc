//@ expect: race
//@ race: put take
// A queue whose producer publishes each element with relaxed order.
#include <atomic>
#include <thread>

constexpr auto publish = std::memory_order_relaxed;

template <class T, unsigned N> class Queue {
    T slots[N];
    std::atomic<unsigned> head{0}, tail{0};

public:
    bool put(T value) {
        unsigned at = tail.load(std::memory_order_relaxed);
        if (at - head.load(std::memory_order_acquire) == N)
            return false;
        slots[at % N] = value; //~ put
        tail.store(at + 1, publish);
        return true;
    }

    bool take(T &value) {
        unsigned at = head.load(std::memory_order_relaxed);
        if (tail.load(std::memory_order_acquire) == at)
            return false;
        value = slots[at % N]; //~ take
        head.store(at + 1, std::memory_order_release);
        return true;
    }
};

Queue<long, 2> queue;

int main() {
    std::thread producer([] {
        for (long i = 0; i < 4; i++)
            while (!queue.put(i))
                std::this_thread::yield();
    });
    long sum = 0;
    for (int i = 0; i < 4; i++) {
        long value;
        while (!queue.take(value))
            std::this_thread::yield();
        sum += value;
    }
    producer.join();
    return sum != 6;
}
