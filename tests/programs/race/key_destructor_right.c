//@ expect: pass
// A strand's destructors come before its join.
#include <pthread.h>

pthread_key_t key;
int total;

static void clean(void *value) {
    (void)value;
    total++;
}

static void *work(void *arg) {
    pthread_setspecific(key, &total);
    return arg;
}

int main(void) {
    pthread_key_create(&key, clean);
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(b, 0);
    return 0;
}
