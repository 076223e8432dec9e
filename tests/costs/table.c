/* Three strands read one table that nobody writes, in turns, and write to halves of words of their own beside each other. */
#include <pthread.h>
#include <sched.h>

enum { ENTRIES = 64, ROUNDS = 400, STRANDS = 3 };

static int table[ENTRIES], more[ENTRIES];
static int sums[STRANDS + 1], counts[STRANDS + 1];

static void *look(void *arg) {
    long me = (long)arg;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < ENTRIES; i++)
            sums[me] += table[i] ^ more[ENTRIES - 1 - i];
        counts[me]++;
        sched_yield();
    }
    return NULL;
}

int main(void) {
    pthread_t strands[STRANDS];
    for (int i = 0; i < ENTRIES; i++)
        table[i] = more[i] = i;
    for (long i = 0; i < STRANDS; i++)
        pthread_create(&strands[i], NULL, look, (void *)i);
    for (int i = 0; i < STRANDS; i++)
        pthread_join(strands[i], NULL);
    return counts[0] != ROUNDS;
}
