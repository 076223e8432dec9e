#include <pthread.h>
#include <stdlib.h>
struct account {
    pthread_mutex_t lock;
    long balance;
    struct account *next;
};
struct account bank[4];
pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
long total;
long audits;
__thread int mine;
struct account *head;
static __attribute__((noinline)) void deposit(struct account *account, long amount) {
    pthread_mutex_lock(&account->lock);
    account->balance += amount; //~ address=arg0+0x28 lock=arg0
    pthread_mutex_unlock(&account->lock);
}
static __attribute__((noinline)) void count(long *where) {
    (*where)++; //~ address=arg0|audits lock=total_lock
}
static __attribute__((noinline)) long sum(void) {
    long all = 0;
    for (struct account *account = head; account; account = account->next) //~ address=head|load(head) lock=rw
        all += account->balance; //~ address=load(head) lock=rw
    return all;
}
static void *work(void *argument) {
    for (int i = 0; i < 4; i++)
        deposit(&bank[i], i);
    mine++; //~ address=tls lock=none
    pthread_mutex_lock(&total_lock);
    total++; //~ address=total lock=total_lock
    count(&audits);
    pthread_mutex_unlock(&total_lock);
    total = 7; //~ address=total lock=none
    pthread_rwlock_rdlock(&rw);
    audits += sum(); //~ address=audits lock=rw
    pthread_rwlock_unlock(&rw);
    if (pthread_mutex_trylock(&total_lock) == 0) {
        total = 3; //~ address=total lock=total_lock
        pthread_mutex_unlock(&total_lock);
    }
    return argument;
}
int main(void) {
    pthread_t strands[2];
    head = malloc(sizeof *head); //~ address=head lock=none
    head->next = 0; //~ address=block|head|load(head) lock=none
    for (int i = 0; i < 2; i++)
        pthread_create(&strands[i], 0, work, strands);
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], 0);
    return total > 100; //~ address=total lock=none
}
