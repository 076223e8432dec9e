//@ expect: pass
// Keys: values per strand, destructors at its end, called again when they set a value, not for NULL.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_key_t buffer, again, plain;
static atomic_int freed, repeats;

static void drop(void *value) {
    assert(*(int *)value == 7);
    free(value);
    atomic_fetch_add(&freed, 1);
}

static void repeat(void *value) {
    if (atomic_fetch_add(&repeats, 1) % 2 == 0)
        pthread_setspecific(again, value);
}

static void *work(void *arg) {
    assert(pthread_getspecific(buffer) == 0 && pthread_getspecific(plain) == 0);
    int *value = malloc(sizeof *value);
    *value = 7;
    assert(pthread_setspecific(buffer, value) == 0);
    assert(pthread_setspecific(plain, arg) == 0);
    assert(pthread_getspecific(buffer) == value && pthread_getspecific(plain) == arg);
    return 0;
}

static void *work_again(void *arg) {
    pthread_setspecific(again, arg);
    pthread_exit(0);
}

int main(void) {
    pthread_t a, b, c;
    assert(pthread_key_create(&buffer, drop) == 0 && pthread_key_create(&again, repeat) == 0);
    assert(pthread_key_create(&plain, 0) == 0);
    pthread_create(&a, 0, work, (void *)1);
    pthread_create(&b, 0, work, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&freed) == 2);
    pthread_create(&c, 0, work_again, (void *)3);
    pthread_join(c, 0);
    assert(atomic_load(&repeats) == 2);
    assert(pthread_getspecific(buffer) == 0);
    assert(pthread_key_delete(buffer) == 0 && pthread_key_delete(again) == 0 && pthread_key_delete(plain) == 0);
    return 0;
}
