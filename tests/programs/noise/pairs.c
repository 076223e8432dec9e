//@ expect: pass
// Two strands that go through functions of their own, each function a few times: which of them meet is for the noise to say.
#include <pthread.h>
#include <stdatomic.h>

#define APART __attribute__((noinline))
#define STEP(name, place)                                                                                              \
    APART static void name(void) {                                                                                     \
        atomic_fetch_add(&places[place], 1);                                                                           \
        atomic_fetch_add(&places[place], -1);                                                                          \
    }

static atomic_int places[8];

STEP(left_0, 0)
STEP(left_1, 1)
STEP(left_2, 2)
STEP(left_3, 3)
STEP(left_4, 4)
STEP(left_5, 5)
STEP(left_6, 6)
STEP(left_7, 7)
STEP(right_0, 0)
STEP(right_1, 1)
STEP(right_2, 2)
STEP(right_3, 3)
STEP(right_4, 4)
STEP(right_5, 5)
STEP(right_6, 6)
STEP(right_7, 7)

APART static void set_up(void) { atomic_store(&places[0], 0); }

static void *left(void *unused) {
    void (*steps[])(void) = {left_0, left_1, left_2, left_3, left_4, left_5, left_6, left_7};
    for (int i = 0; i < 8; i++)
        steps[i]();
    return unused;
}

static void *right(void *unused) {
    void (*steps[])(void) = {right_0, right_1, right_2, right_3, right_4, right_5, right_6, right_7};
    for (int i = 0; i < 8; i++)
        steps[i]();
    return unused;
}

int main(void) {
    pthread_t strands[2];
    set_up();
    pthread_create(&strands[0], 0, left, 0);
    pthread_create(&strands[1], 0, right, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], 0);
    return 0;
}
