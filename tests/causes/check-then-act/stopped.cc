// What is pushed when the worker has stopped is lost: the flag was looked at before.
//@ expect: assertion
//@ pair: asks stops
//@ pattern: check-then-act
//@ object: stopped
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
static std::mutex m; static std::condition_variable cv;
static std::deque<int> q; static bool stopped; static int done, pushed;
static bool is_stopped() { std::lock_guard<std::mutex> g(m); return stopped; } //~ asks
static void push(int v) {
    if (is_stopped()) return; //~ leaves
    std::lock_guard<std::mutex> g(m);
    q.push_back(v); pushed++; //~ pushes
    cv.notify_one();
}
static void worker() {
    for (;;) {
        std::unique_lock<std::mutex> l(m);
        cv.wait(l, [] { return stopped || !q.empty(); });
        if (q.empty()) return;
        q.pop_front(); done++;
    }
}
static void stop() { std::lock_guard<std::mutex> g(m); stopped = true; cv.notify_all(); } //~ stops
int main() {
    std::thread w(worker), p([] { push(1); push(2); }), s(stop);
    p.join(); s.join(); w.join();
    assert(done == pushed); //~ end
}
