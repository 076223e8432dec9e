//@ expect: assertion
//@ preemptions: 1
//@ pair: look change
// A deposit and a withdrawal read the balance under the lock and write it back under the lock, later.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static int look(void) {
    pthread_mutex_lock(&lock);
    int now = balance; //~ look
    pthread_mutex_unlock(&lock);
    return now;
}

static void change(int to) {
    pthread_mutex_lock(&lock);
    balance = to; //~ change
    pthread_mutex_unlock(&lock);
}

static void *deposit(void *unused) {
    change(look() + 50); //~ deposits
    return unused;
}

static void *withdraw(void *unused) {
    int now = look(); //~ looks
    if (now >= 30)
        change(now - 30); //~ changes
    return unused;
}

static void *audit(void *unused) {
    look();
    return unused;
}

int main(void) {
    pthread_t strands[3];
    pthread_create(&strands[0], 0, deposit, 0);
    pthread_create(&strands[1], 0, withdraw, 0);
    pthread_create(&strands[2], 0, audit, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    assert(balance == 120); //~ here
    return 0;
}
