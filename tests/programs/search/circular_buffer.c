//@ expect: assertion
//@ preemptions: 1
//@ pair: store fetch
// A ring whose sender publishes the index before the message.
#include <assert.h>
#include <pthread.h>

#define SIZE 8
#define MESSAGES 6
static volatile char ring[SIZE];
static volatile unsigned first, next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void send(char message) {
    pthread_mutex_lock(&lock);
    unsigned at = next;
    next = at + 1;
    pthread_mutex_unlock(&lock);
    ring[at % SIZE] = message; //~ store
}

static int receive(void) {
    int message = -1;
    pthread_mutex_lock(&lock);
    if (first != next)
        message = ring[first++ % SIZE]; //~ fetch
    pthread_mutex_unlock(&lock);
    return message;
}

static void *sender(void *unused) {
    for (int i = 1; i <= MESSAGES; i++)
        send((char)i);
    return unused;
}

static void *receiver(void *unused) {
    int expected = 1;
    for (int i = 0; i < MESSAGES; i++) {
        int message = receive();
        if (message >= 0)
            assert(message == expected++); //~ here
    }
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, sender, 0);
    pthread_create(&two, 0, receiver, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
