//@ expect: pass
//@ flags: -DRIGHT
// A structure with an atomic field is published by an atomic pointer: in three shapes, right or relaxed.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#ifndef SHAPE
#define SHAPE 1
#endif
#ifdef RIGHT
constexpr auto PUBLISH = std::memory_order_release, LOOK = std::memory_order_acquire;
#else
constexpr auto PUBLISH = std::memory_order_relaxed, LOOK = std::memory_order_relaxed;
#endif

struct Node {
    std::atomic<int> count{1};
    int data = 0;
    explicit Node(int value) : data(value) {}
    Node() = default;
};

static std::atomic<Node *> published;

static Node *make() {
#if SHAPE == 1
    return new Node(42);
#elif SHAPE == 2
    auto node = std::make_unique<Node>();
    node->data = 42;
    return node.release();
#else
    auto *nodes = new std::vector<Node>(3);
    (*nodes)[1].data = 42;
    return &(*nodes)[1];
#endif
}

int main() {
    int seen = 0;
    std::thread writer([] { published.store(make(), PUBLISH); });
    std::thread reader([&] {
        Node *node = published.load(LOOK);
        if (node && node->count.load(std::memory_order_acquire) == 1) seen = node->data;
    });
    writer.join();
    reader.join();
    return seen != 0 && seen != 42;
}
