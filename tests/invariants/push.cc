// Who counts first and puts in afterwards: a vector that grows copies what it has with one call, which reads and writes.
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

struct registry {
    std::mutex lock;
    std::vector<int> items;

    int count() {
        std::lock_guard<std::mutex> guard(lock);
        return (int)items.size();
    }

    int add(int value) {
        int id = count(); //~ first
        std::lock_guard<std::mutex> guard(lock);
        items.push_back(value); //~ last
        return id;
    }

    int at(int id) {
        std::lock_guard<std::mutex> guard(lock);
        return items[id];
    }
};

static registry all;

static void work(int value) {
    int id = all.add(value);
    assert(all.at(id) == value);
}

int main() {
    std::thread one(work, 10), two(work, 20);
    one.join();
    two.join();
}
