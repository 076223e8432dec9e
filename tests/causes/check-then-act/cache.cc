// Two strands see that a key is missing, and both put it; the table is in precompiled code, only its lock can be seen.
//@ expect: assertion
//@ pair: has puts
//@ pair: puts puts
//@ pattern: check-then-act
//@ object: cache.guard
#include <atomic>
#include <cassert>
#include <map>
#include <mutex>
#include <thread>
#include <vector>
class Cache {
    std::map<int, int> items;
    std::mutex guard;
    std::atomic<int> hits{0};
public:
    bool has(int k) { std::lock_guard<std::mutex> g(guard); hits++; return items.count(k) != 0; } //~ has
    void put(int k, int v) { std::lock_guard<std::mutex> g(guard); assert(items.find(k) == items.end()); items[k] = v; } //~ puts
    int get(int k) { std::lock_guard<std::mutex> g(guard); return items.at(k); }
};
static Cache cache;
static int lookup(int k) {
    if (!cache.has(k)) cache.put(k, k * k); //~ looks
    return cache.get(k);
}
int main() {
    std::vector<std::thread> ts;
    for (int i = 0; i < 3; i++) ts.emplace_back([i] { lookup(i % 2); lookup(7); });
    for (auto &t : ts) t.join();
}
