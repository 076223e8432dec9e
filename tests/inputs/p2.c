// The paper's program P2 (its figure 4): two signs choose which variables two strands race on.
#include <pthread.h>
#include <stdlib.h>

static int x, y;
static volatile int v1, v2, v3, v4;

static void *one(void *unused) {
    (void)unused;
    v1++;
    v2++;
    v3++;
    v4++;
    return 0;
}

static void *two(void *unused) {
    (void)unused;
    if (x > 0)
        v1++;
    else
        v2++;
    if (y > 0)
        v3++;
    else
        v4++;
    return 0;
}

int main(int count, char **words) {
    if (count != 3)
        return 2;
    x = atoi(words[1]);
    y = atoi(words[2]);
    pthread_t first, second;
    pthread_create(&first, 0, one, 0);
    pthread_create(&second, 0, two, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
