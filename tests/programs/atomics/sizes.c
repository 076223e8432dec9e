//@ expect: pass
//@ flags: -latomic
// Atomics of 1, 2, 4, 8 and 16 bytes, every operation and order; the sums come out in every schedule.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

typedef unsigned __int128 u128;

static _Atomic uint8_t a8;
static _Atomic uint16_t a16;
static _Atomic uint32_t a32;
static _Atomic uint64_t a64;
static u128 a128;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static int guarded;

#define ROUND(variable, type)                                                                                          \
    do {                                                                                                               \
        atomic_fetch_add_explicit(&variable, 5, memory_order_relaxed);                                                 \
        atomic_fetch_sub_explicit(&variable, 2, memory_order_acq_rel);                                                 \
        atomic_fetch_xor_explicit(&variable, 0, memory_order_release);                                                 \
        atomic_fetch_or_explicit(&variable, 0, memory_order_acquire);                                                  \
        atomic_fetch_and_explicit(&variable, (type)-1, memory_order_seq_cst);                                          \
        type seen = atomic_load_explicit(&variable, memory_order_acquire);                                             \
        while (!atomic_compare_exchange_weak_explicit(&variable, &seen, (type)(seen + 1), memory_order_acq_rel,        \
                                                      memory_order_relaxed)) {                                         \
        }                                                                                                              \
    } while (0)

static void *work(void *unused) {
    (void)unused;
    ROUND(a8, uint8_t);
    ROUND(a16, uint16_t);
    ROUND(a32, uint32_t);
    ROUND(a64, uint64_t);
    u128 seen = __atomic_load_n(&a128, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(&a128, &seen, seen + ((u128)1 << 64) + 4, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_seq_cst);
    while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire)) {
    }
    guarded++;
    atomic_flag_clear_explicit(&flag, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(a8 == 8 && a16 == 8 && a32 == 8 && a64 == 8 && guarded == 2);
    assert(a128 == ((u128)2 << 64) + 8);
    assert(atomic_exchange(&a8, 255) == 8 && atomic_fetch_add(&a8, 1) == 255 && a8 == 0);
    uint64_t masked = 12;
    assert(__atomic_nand_fetch(&masked, 8, __ATOMIC_RELAXED) == ~UINT64_C(8));
    u128 old = __atomic_exchange_n(&a128, 1, __ATOMIC_ACQ_REL);
    assert(old == ((u128)2 << 64) + 8 && __atomic_fetch_add(&a128, 1, __ATOMIC_RELAXED) == 1);
    __atomic_store_n(&a128, 9, __ATOMIC_RELEASE);
    assert(__atomic_load_n(&a128, __ATOMIC_ACQUIRE) == 9);
    return 0;
}
