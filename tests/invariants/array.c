// An array that is to stay as it is but for the order of its elements: two of them are exchanged in three steps.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int places[6] = {1, 2, 3, 4, 5, 6};

static int get(int at) {
    pthread_mutex_lock(&lock);
    int value = places[at];
    pthread_mutex_unlock(&lock);
    return value;
}

static void put(int at, int value) {
    pthread_mutex_lock(&lock);
    places[at] = value;
    pthread_mutex_unlock(&lock);
}

static void *turn(void *unused) {
    int first = get(0); //~ first
    for (int i = 0; i < 5; i++)
        put(i, get(i + 1));
    put(5, first); //~ last
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, turn, NULL);
    pthread_create(&two, NULL, turn, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    int sum = 0;
    for (int i = 0; i < 6; i++)
        sum += places[i]; //~ look
    assert(sum == 21);
    return 0;
}
