//@ expect: pass
//@ args: 12
// Strands put four numbers each into a hash table, by compare-and-exchange; the hash makes only some of them collide.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SIZE = 128, EACH = 4, MOST = 16 };

static atomic_int table[SIZE];

static void *insert(void *number) {
    for (int count = 1; count <= EACH; count++) {
        int word = count * 11 + (int)(long)number;
        for (int at = word * 7 % SIZE;; at = (at + 1) % SIZE) {
            int empty = 0;
            if (atomic_compare_exchange_strong(&table[at], &empty, word)) break;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 2;
    pthread_t strands[MOST];
    for (long at = 0; at < count; at++) pthread_create(&strands[at], 0, insert, (void *)at);
    for (long at = 0; at < count; at++) pthread_join(strands[at], 0);
    return 0;
}
