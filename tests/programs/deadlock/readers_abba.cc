//@ expect: pass
//@ warns: none
// Two shared locks in opposite orders, for reading only: readers do not wait for readers.
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex table, index;
static int rows = 3, keys = 3;

static void there(int *out) {
    std::shared_lock<std::shared_mutex> one(table);
    std::shared_lock<std::shared_mutex> two(index);
    *out = rows + keys;
}

static void back(int *out) {
    std::shared_lock<std::shared_mutex> one(index);
    std::shared_lock<std::shared_mutex> two(table);
    *out = rows + keys;
}

int main() {
    int a = 0, b = 0;
    std::thread strand(there, &a);
    back(&b);
    strand.join();
    return a == b ? 0 : 1;
}
