// Two signs choose the work of two strands, and each pair of signs has a failure of its own: of x and y either sign
// has a counter that loses updates.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int x, y;
static volatile int a1, a2, a3, b1, b2, b3, c1, c2, c3, d1, d2, d3;

#define WORK(p, q, r) \
    do {              \
        p++;          \
        q += p;       \
        r++;          \
    } while (0)

static void *one(void *unused) {
    (void)unused;
    WORK(a1, a2, a3);
    WORK(b1, b2, b3);
    WORK(c1, c2, c3);
    WORK(d1, d2, d3);
    return 0;
}

static void *two(void *unused) {
    (void)unused;
    if (x > 0)
        WORK(a1, a2, a3);
    else
        WORK(b1, b2, b3);
    if (y > 0)
        WORK(c1, c2, c3);
    else
        WORK(d1, d2, d3);
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
    int wrong_x = x > 0 ? a1 != 2 || a3 != 2 : b1 != 2 || b3 != 2;
    int wrong_y = y > 0 ? c1 != 2 || c3 != 2 : d1 != 2 || d3 != 2;
    if (wrong_x || wrong_y)
        return 10 + (x > 0) * 2 + (y > 0);
    return 0;
}
