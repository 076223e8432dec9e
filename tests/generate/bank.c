// The paper's bank account: eight threads that put money in, take it out and move it. With an argument they take locks.
#include <pthread.h>
#include <stdio.h>

struct account {
    int balance;
    int moves;
    pthread_mutex_t lock;
};

static struct account accounts[2] = {{100, 0, PTHREAD_MUTEX_INITIALIZER}, {100, 0, PTHREAD_MUTEX_INITIALIZER}};
static int careful;

static void enter(struct account *it) {
    if (careful) pthread_mutex_lock(&it->lock);
}

static void leave(struct account *it) {
    if (careful) pthread_mutex_unlock(&it->lock);
}

static void deposit(struct account *it, int amount) {
    enter(it);
    it->balance += amount; //~ deposit
    it->moves++;
    leave(it);
}

static int withdraw(struct account *it, int amount) {
    int had = 0;
    enter(it);
    if (it->balance >= amount) {
        it->balance -= amount; //~ withdraw
        it->moves++;
        had = 1;
    }
    leave(it);
    return had;
}

static int balance(struct account *it) {
    enter(it);
    int value = it->balance;
    leave(it);
    return value;
}

static void transfer(struct account *from, struct account *to, int amount) {
    if (withdraw(from, amount)) deposit(to, amount);
}

static void *saver(void *which) {
    deposit(which, 10);
    return 0;
}

static void *spender(void *which) {
    withdraw(which, 10);
    return 0;
}

static void *mover(void *which) {
    struct account *from = which;
    transfer(from, from == accounts ? accounts + 1 : accounts, 5);
    return 0;
}

static void *reader(void *which) {
    return (void *)(long)balance(which);
}

int main(int argc, char **argv) {
    (void)argv;
    careful = argc > 1;
    void *(*roles[])(void *) = {saver, spender, mover, reader};
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, roles[i % 4], &accounts[i / 4]);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
    printf("%d\n", accounts[0].balance + accounts[1].balance > 0);
    return 0;
}
