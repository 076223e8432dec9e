//@ expect: assertion
//@ max-runs: 6000
//@ preemptions: 1
//@ pair: pop push
// A free list of nodes linked by pointers; the nodes are reused, so an old head can look current.
#include <atomic>
#include <cassert>
#include <thread>

struct Node {
    std::atomic<Node *> next{nullptr};
};

static Node nodes[3];
static std::atomic<Node *> head{nullptr};

static void push(Node *node) {
    Node *top = head;
    do
        node->next = top;
    while (!head.compare_exchange_strong(top, node)); //~ push
}

static Node *pop() {
    Node *top = head;
    while (top && !head.compare_exchange_strong(top, top->next)) { //~ pop
    }
    return top;
}

int main() {
    for (Node &node : nodes)
        push(&node);
    Node *slow_has[2], *kept;
    std::thread slow([&] {
        slow_has[0] = pop();
        slow_has[1] = pop();
    });
    std::thread fast([&] {
        Node *node = pop();
        kept = pop();
        if (node)
            push(node);
    });
    slow.join();
    fast.join();
    assert(!kept || (kept != slow_has[0] && kept != slow_has[1])); //~ here
}
