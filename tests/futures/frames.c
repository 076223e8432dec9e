// A function that is called twice finds its local where the first call's was; what it then holds comes from code that nobody sees.
#include <pthread.h>
#include <stddef.h>

static int seen[2];

static void *looks_first(void *at) {
    seen[0] = *(int *)at; //~ first
    return NULL;
}

static void *looks_second(void *at) {
    seen[1] = *(int *)at; //~ second
    return NULL;
}

__attribute__((noinline)) static void turn(int second) {
    int mine;
    int *at = &mine;
    pthread_t strand;
    if (second)
        __asm__ volatile("movl $2, (%0)" : : "r"(at) : "memory");
    pthread_create(&strand, NULL, second ? looks_second : looks_first, at);
    if (!second)
        *at = 2; //~ shared
    pthread_join(strand, NULL);
}

int main(void) {
    turn(0);
    turn(1);
    return 0;
}
