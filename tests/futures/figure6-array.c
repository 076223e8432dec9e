/* Figure 6 of the paper as it was: a hundred strands count in an array, and main adds up without joining them. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define COUNT 100

static int n[COUNT];

static void *increment(void *arg) {
    int *mine = arg;
    *mine += 1; //~ write
    return arg;
}

int main(void) {
    pthread_t strands[COUNT];
    for (int i = 0; i < COUNT; i++)
        pthread_create(&strands[i], NULL, increment, &n[i]);
    usleep(10000);
    int sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += n[i]; //~ read
    printf("%d\n", sum);
    return sum == COUNT ? 0 : 3;
}
