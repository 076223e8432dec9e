// Writes that no run comes to: the branches that lead to each are told by the labels behind it.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int shared;
static volatile int mode, size, kind;

static __attribute__((noinline)) void deep(int by) {
    if (by > 100) //~ deep
        shared = 1; //~ in deep
}

static __attribute__((noinline)) void helper(int by) {
    if (mode == 5) //~ helper
        deep(by); //~ call deep
}

static void *never(void *arg) {
    shared = 2; //~ in never
    return arg;
}

static __attribute__((noinline)) void by_pointer(void) {
    shared = 3; //~ in pointed
}

void (*volatile pointer)(void) = by_pointer;

static void *work(void *arg) {
    if (mode == 1) //~ plain
        shared = 4; //~ in plain
    if (mode == 1 && //~ and one
        size > 3) //~ and two
        shared = 5; //~ in and
    if (mode == 2 || //~ or one
        size == 7) //~ or two
        shared = 6; //~ in or
    switch (kind) { //~ switch
    case 3:
        shared = 7; //~ in three
        break;
    case 4:
        shared = 8; //~ in four
        break;
    case 5: size = 5; break;
    case 6: size = 6; break;
    case 7: size = 7; break;
    default: shared = 10; break; //~ in default
    }
    for (int at = 0; at < size; at++) { //~ loop
        if (mode == at) //~ in loop
            shared = 9; //~ in body
    }
    if (mode == 77) //~ main calls
        helper(size); //~ call helper
    return arg;
}

int main(void) {
    pthread_t strands[2];
    pthread_create(&strands[0], NULL, work, NULL);
    if (size == 42) //~ creates
        pthread_create(&strands[1], NULL, never, NULL); //~ creation
    if (mode == 9)
        pointer();
    int seen = shared; //~ read
    pthread_join(strands[0], NULL);
    return seen == 1234;
}
