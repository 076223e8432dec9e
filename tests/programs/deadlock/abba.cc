//@ expect: deadlock
//@ preemptions: 1
//@ pair: mine theirs
// A comparison that locks both sides, called with the sides swapped.
#include <mutex>
#include <thread>

struct Node {
    mutable std::mutex lock;
    int weight;
    explicit Node(int weight) : weight(weight) {}
    bool heavier(const Node &other) const {
        std::lock_guard<std::mutex> mine(lock); //~ mine
        std::lock_guard<std::mutex> theirs(other.lock); //~ theirs
        return weight > other.weight;
    }
};

int main() {
    Node a(1), b(2);
    bool forth = false, back = false;
    std::thread strand([&] { forth = a.heavier(b); });
    back = b.heavier(a);
    strand.join();
    return forth == back;
}
