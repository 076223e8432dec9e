//@ expect: pass
// The public annotations of the sanitizer, where they are linked: they order what only the program knows.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define WEAK __attribute__((weak))
void __tsan_acquire(void *) WEAK;
void __tsan_release(void *) WEAK;
void __tsan_mutex_create(void *, unsigned) WEAK;
void __tsan_mutex_destroy(void *, unsigned) WEAK;
void __tsan_mutex_pre_lock(void *, unsigned) WEAK;
void __tsan_mutex_post_lock(void *, unsigned, int) WEAK;
int __tsan_mutex_pre_unlock(void *, unsigned) WEAK;
void __tsan_mutex_post_unlock(void *, unsigned) WEAK;
void AnnotateHappensBefore(const char *, int, const volatile void *) WEAK;
void AnnotateHappensAfter(const char *, int, const volatile void *) WEAK;

static atomic_flag held = ATOMIC_FLAG_INIT;
static atomic_int ready;
static int counter, payload;

static void lock(void) {
    if (__tsan_mutex_pre_lock)
        __tsan_mutex_pre_lock(&held, 0);
    while (atomic_flag_test_and_set_explicit(&held, memory_order_acquire)) {
    }
    if (__tsan_mutex_post_lock)
        __tsan_mutex_post_lock(&held, 0, 0);
}

static void unlock(void) {
    if (__tsan_mutex_pre_unlock)
        __tsan_mutex_pre_unlock(&held, 0);
    atomic_flag_clear_explicit(&held, memory_order_release);
    if (__tsan_mutex_post_unlock)
        __tsan_mutex_post_unlock(&held, 0);
}

static void *work(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        lock();
        counter++;
        unlock();
    }
    return 0;
}

static void *send(void *unused) {
    (void)unused;
    payload = 7;
    if (__tsan_release)
        __tsan_release(&payload);
    if (AnnotateHappensBefore)
        AnnotateHappensBefore(__FILE__, __LINE__, &payload);
    atomic_store_explicit(&ready, 1, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t a, b, c;
    if (__tsan_mutex_create)
        __tsan_mutex_create(&held, 0);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_create(&c, 0, send, 0);
    while (!atomic_load_explicit(&ready, memory_order_acquire)) {
    }
    if (__tsan_acquire)
        __tsan_acquire(&payload);
    if (AnnotateHappensAfter)
        AnnotateHappensAfter(__FILE__, __LINE__, &payload);
    assert(payload == 7);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    assert(counter == 4);
    if (__tsan_mutex_destroy)
        __tsan_mutex_destroy(&held, 0);
    return 0;
}
