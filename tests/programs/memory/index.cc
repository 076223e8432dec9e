//@ expect: pass
// An index stays right when another strand appends to the vector.
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::vector<int> numbers{1, 2, 3, 4};

static void append() {
    std::lock_guard<std::mutex> held(lock);
    numbers.push_back(5);
}

int main() {
    std::thread other(append);
    lock.lock();
    std::size_t last = 3;
    lock.unlock();
    lock.lock();
    numbers[last] = 7;
    lock.unlock();
    other.join();
}
