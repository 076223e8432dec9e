// Two signs choose the work of two strands; where both are positive, a lost update fails.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int x, y;
static volatile int v1, v2, total;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *one(void *unused) {
    (void)unused;
    v1++;
    v2++;
    if (x > 0 && y > 0)
        add();
    return 0;
}

static void *two(void *unused) {
    (void)unused;
    if (x > 0)
        v1++;
    else
        v2++;
    if (x > 0 && y > 0)
        add();
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
    assert(x <= 0 || y <= 0 || total == 2);
    return 0;
}
