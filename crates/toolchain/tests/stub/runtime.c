/* A runtime that steers nothing: every hook does what the plain program would have done. Built by the tests
   in the place of the real library, so that this crate is tested by itself. */
#include <stdint.h>
#include <string.h>

void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_read_range(void *p, long n) { (void)p, (void)n; }
void __tsan_write_range(void *p, long n) { (void)p, (void)n; }
void __tsan_vptr_read(void **p) { (void)p; }
void __tsan_vptr_update(void **p, void *v) { (void)p, (void)v; }
void *__tsan_memcpy(void *d, const void *s, unsigned long n) { return memcpy(d, s, n); }
void *__tsan_memmove(void *d, const void *s, unsigned long n) { return memmove(d, s, n); }
void *__tsan_memset(void *d, int c, unsigned long n) { return memset(d, c, n); }
void __tsan_atomic_thread_fence(int order) { (void)order, __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int order) { (void)order, __atomic_signal_fence(__ATOMIC_SEQ_CST); }

#define ACCESS(n)                                                                                                      \
    void __tsan_read##n(void *p) { (void)p; }                                                                          \
    void __tsan_write##n(void *p) { (void)p; }                                                                         \
    void __tsan_read_write##n(void *p) { (void)p; }                                                                    \
    void __tsan_unaligned_read##n(void *p) { (void)p; }                                                                \
    void __tsan_unaligned_write##n(void *p) { (void)p; }                                                               \
    void __tsan_unaligned_read_write##n(void *p) { (void)p; }                                                          \
    void __tsan_volatile_read##n(void *p) { (void)p; }                                                                 \
    void __tsan_volatile_write##n(void *p) { (void)p; }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)

#define SEQ __ATOMIC_SEQ_CST
#define RMW(bits, op)                                                                                                  \
    uint##bits##_t __tsan_atomic##bits##_fetch_##op(uint##bits##_t *p, uint##bits##_t v, int o) {                      \
        return (void)o, __atomic_fetch_##op(p, v, SEQ);                                                                \
    }
#define ATOMIC(bits)                                                                                                   \
    uint##bits##_t __tsan_atomic##bits##_load(uint##bits##_t *p, int o) { return (void)o, __atomic_load_n(p, SEQ); }   \
    void __tsan_atomic##bits##_store(uint##bits##_t *p, uint##bits##_t v, int o) {                                     \
        (void)o, __atomic_store_n(p, v, SEQ);                                                                          \
    }                                                                                                                  \
    uint##bits##_t __tsan_atomic##bits##_exchange(uint##bits##_t *p, uint##bits##_t v, int o) {                        \
        return (void)o, __atomic_exchange_n(p, v, SEQ);                                                                \
    }                                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_strong(uint##bits##_t *p, uint##bits##_t *e, uint##bits##_t v, int s,   \
                                                      int f) {                                                         \
        return (void)s, (void)f, __atomic_compare_exchange_n(p, e, v, 0, SEQ, SEQ);                                    \
    }                                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_weak(uint##bits##_t *p, uint##bits##_t *e, uint##bits##_t v, int s,     \
                                                    int f) {                                                           \
        return (void)s, (void)f, __atomic_compare_exchange_n(p, e, v, 0, SEQ, SEQ);                                    \
    }                                                                                                                  \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(uint##bits##_t *p, uint##bits##_t e, uint##bits##_t v,   \
                                                              int s, int f) {                                          \
        return (void)s, (void)f, __atomic_compare_exchange_n(p, &e, v, 0, SEQ, SEQ), e;                                \
    }                                                                                                                  \
    RMW(bits, add) RMW(bits, sub) RMW(bits, and) RMW(bits, or) RMW(bits, xor) RMW(bits, nand)
ATOMIC(8) ATOMIC(16) ATOMIC(32) ATOMIC(64)
