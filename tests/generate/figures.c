// Figures 1 and 4 of the paper: two functions that change one number. With an argument they take a lock.
#include <pthread.h>
#include <stdio.h>

static int x = 350;
static int locked;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static void enter(void) {
    if (locked) pthread_mutex_lock(&guard);
}

static void leave(void) {
    if (locked) pthread_mutex_unlock(&guard);
}

static void increment(int amount) {
    enter();
    x = x + amount; //~ increment
    leave();
}

static void decrement(int amount) {
    enter();
    if (x >= amount) x = x - amount; //~ decrement
    leave();
}

static void *up(void *unused) {
    increment(500);
    return unused;
}

static void *down(void *unused) {
    decrement(200);
    return unused;
}

int main(int argc, char **argv) {
    (void)argv;
    locked = argc > 1;
    pthread_t one, two;
    pthread_create(&one, 0, up, 0);
    pthread_create(&two, 0, down, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    printf("%d\n", x > 0);
    return 0;
}
