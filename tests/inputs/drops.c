// Two strands share a box; whoever drops it last frees it. With one input in fifty the first drops it for both: what no order of another input has is possible then.
#include <pthread.h>
#include <stdlib.h>

struct box {
    int owners;
    int value;
};

static struct box *box;
static int both, work, done;

static void drop(int owners) {
    if (__atomic_sub_fetch(&box->owners, owners, __ATOMIC_ACQ_REL) <= 0)
        free(box);
}

static void *first(void *unused) {
    (void)unused;
    for (int i = 0; i < work; i++)
        __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
    drop(both ? 2 : 1);
    return 0;
}

static void *second(void *unused) {
    (void)unused;
    for (int i = 0; i < work; i++)
        __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
    int value = __atomic_load_n(&box->value, __ATOMIC_RELAXED);
    if (!both)
        drop(1);
    return (void *)(long)value;
}

int main(int count, char **words) {
    int number = count > 1 ? atoi(words[1]) : 0;
    both = number % 50 == 29;
    work = number % 3;
    box = malloc(sizeof *box);
    box->owners = 2;
    box->value = 1;
    pthread_t strands[2];
    pthread_create(&strands[0], 0, first, 0);
    pthread_create(&strands[1], 0, second, 0);
    pthread_join(strands[0], 0);
    pthread_join(strands[1], 0);
    return 0;
}
