//@ expect: pass
// Functions of every sort that coverage tells apart: before and after the strands, in one of them, in several, without shared memory,
// and one that does not return.
#include <pthread.h>
#include <stdio.h>

#define APART __attribute__((noinline))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int balance, deposits, audits;

APART static void set_up(void) { balance = 100; }

APART static int tear_down(void) { return balance == 106 && audits == 2 ? 0 : 1; }

// What it touches is its own.
APART static int mix(int *words, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += words[i] = words[i] * 31 + i;
    return sum;
}

APART static void deposit(void) {
    pthread_mutex_lock(&lock);
    balance = balance + 1;
    deposits++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

APART static int audit(void) {
    pthread_mutex_lock(&lock);
    int seen = balance;
    audits++;
    pthread_mutex_unlock(&lock);
    return seen;
}

APART static void leave(void) {
    pthread_mutex_lock(&lock);
    while (deposits < 6)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    pthread_exit(0);
}

static void *client(void *unused) {
    int words[8] = {1, 2, 3};
    for (int i = 0; i < 3; i++) {
        deposit();
        if (mix(words, 8) == -1)
            puts("never");
    }
    return unused;
}

static void *auditor(void *unused) {
    audit();
    audit();
    leave();
    return unused;
}

int main(void) {
    pthread_t strands[3];
    set_up();
    pthread_create(&strands[0], 0, client, 0);
    pthread_create(&strands[1], 0, client, 0);
    pthread_create(&strands[2], 0, auditor, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    return tear_down();
}
