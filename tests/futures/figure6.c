/* Figure 6 of the paper: who adds up does not wait for those who count. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int n0, n1, n2, n3;

static void *count0(void *arg) {
    n0 += 1; //~ zero
    return arg;
}

static void *count1(void *arg) {
    n1 += 1; //~ one
    return arg;
}

static void *count2(void *arg) {
    n2 += 1; //~ two
    return arg;
}

static void *count3(void *arg) {
    n3 += 1; //~ three
    return arg;
}

static void *add(void *arg) {
    usleep(10000);
    int sum = n0; //~ read zero
    sum += n1;    //~ read one
    sum += n2;    //~ read two
    sum += n3;    //~ read three
    printf("%d\n", sum);
    if (sum < 1)
        exit(3);
    return arg;
}

int main(void) {
    void *(*const bodies[])(void *) = {count0, count1, count2, count3, add};
    pthread_t strands[5];
    for (int i = 0; i < 5; i++)
        pthread_create(&strands[i], NULL, bodies[i], NULL);
    for (int i = 0; i < 5; i++)
        pthread_join(strands[i], NULL);
    return 0;
}
