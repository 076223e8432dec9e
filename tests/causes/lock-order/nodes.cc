// Two nodes of the heap, each locking itself and its neighbour; a counter on the way.
//@ expect: deadlock
//@ pair: own other
//@ pattern: lock-order-cycle
//@ object: any
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

struct Node {
    std::mutex lock;
    Node *next = nullptr;
    int value = 0;
};
static std::atomic<int> visits;

static void push(Node *node) {
    visits++;
    std::lock_guard<std::mutex> own(node->lock); //~ own
    visits++;
    std::lock_guard<std::mutex> other(node->next->lock); //~ other
    node->next->value += node->value;
}

int main() {
    auto one = std::make_unique<Node>(), two = std::make_unique<Node>();
    one->next = two.get();
    two->next = one.get();
    std::thread a(push, one.get()), b(push, two.get());
    a.join();
    b.join();
}
