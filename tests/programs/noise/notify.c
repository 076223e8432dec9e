//@ expect: assertion
//@ message: subject
//@ bare: any
// The strands that wait are told before what they are told of is there.
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static volatile int notified;
static int *volatile subject;

static void *wait_for_change(void *unused) {
    (void)unused;
    while (!notified)
        sched_yield();
    assert(subject); //~ here
    return 0;
}

static void change_notification(int *value) {
    notified = 1;
    subject = value;
}

int main(void) {
    static int value = 7;
    pthread_t strands[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&strands[i], 0, wait_for_change, 0);
    change_notification(&value);
    for (int i = 0; i < 4; i++)
        pthread_join(strands[i], 0);
    return 0;
}
