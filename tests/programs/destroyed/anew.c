//@ expect: pass
// Objects are destroyed and made anew, by calls and by static initialisers, where others lay, on the stack and on the heap.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct set {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    pthread_rwlock_t table;
    pthread_barrier_t gate;
    sem_t tokens;
};

static struct set shared;

static void make(struct set *set) {
    pthread_mutex_init(&set->lock, 0);
    pthread_cond_init(&set->cond, 0);
    pthread_rwlock_init(&set->table, 0);
    pthread_barrier_init(&set->gate, 0, 1);
    sem_init(&set->tokens, 0, 1);
}

static void use(struct set *set) {
    assert(pthread_mutex_lock(&set->lock) == 0);
    pthread_cond_signal(&set->cond);
    assert(pthread_mutex_unlock(&set->lock) == 0);
    assert(pthread_rwlock_rdlock(&set->table) == 0);
    assert(pthread_rwlock_unlock(&set->table) == 0);
    assert(pthread_barrier_wait(&set->gate) == PTHREAD_BARRIER_SERIAL_THREAD);
    assert(sem_wait(&set->tokens) == 0);
    assert(sem_post(&set->tokens) == 0);
}

static void destroy(struct set *set) {
    assert(pthread_mutex_destroy(&set->lock) == 0);
    assert(pthread_cond_destroy(&set->cond) == 0);
    assert(pthread_rwlock_destroy(&set->table) == 0);
    assert(pthread_barrier_destroy(&set->gate) == 0);
    assert(sem_destroy(&set->tokens) == 0);
}

static void on_the_stack(int assigned) {
    struct set set;
    make(&set);
    if (assigned) {
        set.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        set.cond = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
        set.table = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    }
    use(&set);
    destroy(&set);
}

static void *work(void *unused) {
    for (int i = 0; i < 2; i++) {
        struct set *set = malloc(sizeof *set);
        make(set);
        use(set);
        destroy(set);
        free(set);
        on_the_stack(i);
    }
    return unused;
}

int main(void) {
    pthread_t strand;
    for (int i = 0; i < 3; i++) {
        make(&shared);
        pthread_create(&strand, 0, work, 0);
        use(&shared);
        pthread_join(strand, 0);
        destroy(&shared);
        shared.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
        shared.cond = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
        shared.table = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
        assert(pthread_mutex_lock(&shared.lock) == 0);
        pthread_cond_signal(&shared.cond);
        assert(pthread_mutex_unlock(&shared.lock) == 0);
        assert(pthread_rwlock_wrlock(&shared.table) == 0);
        assert(pthread_rwlock_unlock(&shared.table) == 0);
    }
    return 0;
}
