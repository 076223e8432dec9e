// A list whose nodes lie in an array and name each other by index; places are taken by a counter.
#include "strands.h"

enum { NODES = 8 };
struct {
    int key;
    _Atomic int next;
} nodes[NODES];
_Atomic int head = -1, used, length;

static void push(int key) {
    int mine = used++;
    nodes[mine].key = key;
    int first = head;
    do
        nodes[mine].next = first;
    while (!atomic_compare_exchange_strong(&head, &first, mine));
    length++;
}

static void *first(void *unused) {
    push(1);
    push(2);
    return unused;
}

static void *second(void *unused) {
    push(3);
    return unused;
}

int main(void) {
    RUN(first, second);
    int sum = 0;
    for (int at = head; at >= 0; at = nodes[at].next)
        sum += nodes[at].key;
    assert(sum == 6 && length == 3 && used == 3);
}
