// A place is free when it is asked for, and taken when it is used; each step has the lock.
//@ expect: assertion
//@ pair: asks opens
//@ pair: opens opens
//@ pattern: check-then-act
//@ object: s.open
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
struct server { pthread_mutex_t lock; int open; int limit; long accepted; } s = { PTHREAD_MUTEX_INITIALIZER, 0, 1, 0 };
static int below_limit(void) {
    pthread_mutex_lock(&s.lock);
    int yes = s.open < s.limit; //~ asks
    pthread_mutex_unlock(&s.lock);
    return yes;
}
static void connect_one(void) {
    pthread_mutex_lock(&s.lock);
    s.open++; //~ opens
    s.accepted++;
    assert(s.open <= s.limit); //~ end
    pthread_mutex_unlock(&s.lock);
}
static void close_one(void) {
    pthread_mutex_lock(&s.lock);
    s.open--;
    pthread_mutex_unlock(&s.lock);
}
static void *client(void *p) {
    for (int i = 0; i < 2; i++)
        if (below_limit()) { //~ looks
           
            connect_one(); //~ connects
            close_one();
        }
    return p;
}
int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, client, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    printf("%ld\n", s.accepted);
}
