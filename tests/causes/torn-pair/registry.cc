// Two arrays with a lock each: an audit takes both, in the middle of a change.
//@ expect: assertion
//@ pair: total_down audit
//@ pair: used_down audit
//@ pair: used_up audit
//@ pair: total_up audit
//@ pattern: torn-pair
//@ object: r.total|r.used
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>
struct Registry {
    std::mutex names_lock, sizes_lock;
    int names[8]; int used = 0;
    int sizes[8]; int total = 0;
    void add(int n, int s) {
        { std::lock_guard<std::mutex> g(names_lock); names[used++] = n; } //~ used_up
        { std::lock_guard<std::mutex> g(sizes_lock); sizes[total++] = s; } //~ total_up
    }
    void remove_last() {
        { std::lock_guard<std::mutex> g(sizes_lock); if (total > 0) total--; } //~ total_down
        { std::lock_guard<std::mutex> g(names_lock); if (used > 0) used--; } //~ used_down
    }
    void audit() {
        std::lock_guard<std::mutex> a(names_lock);
        std::lock_guard<std::mutex> b(sizes_lock);
        assert(used == total); //~ audit
    }
};
static Registry r;
int main() {
    std::thread a([] { r.add(1, 10); r.add(2, 20); r.remove_last(); });
    std::thread b([] { r.audit(); });
    a.join(); b.join();
    r.audit();
}
