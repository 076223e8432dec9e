// Two signs choose the work of two strands, some of it under a lock; where x is positive and y is not, a
// sum that two sections belong to fails if the other strand comes between them.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int x, y;
static int v1, v2, v3, left = 100, right;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void bump(int *variable) {
    pthread_mutex_lock(&lock);
    ++*variable;
    pthread_mutex_unlock(&lock);
}

static void move(int amount) {
    pthread_mutex_lock(&lock);
    left -= amount;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    right += amount;
    pthread_mutex_unlock(&lock);
}

static void check(void) {
    pthread_mutex_lock(&lock);
    int sum = left + right;
    pthread_mutex_unlock(&lock);
    assert(sum == 100);
}

static void *one(void *unused) {
    (void)unused;
    bump(&v1);
    bump(&v2);
    if (x > 0 && y <= 0)
        move(10);
    else
        bump(&v3);
    return 0;
}

static void *two(void *unused) {
    (void)unused;
    bump(x > 0 ? &v1 : &v2);
    if (x > 0 && y <= 0)
        check();
    else if (y > 0)
        bump(&v3);
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
