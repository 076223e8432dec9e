//@ expect: pass
// Each strand has a buffer of its own for its date.
#include <assert.h>
#include <pthread.h>
#include <time.h>

static void *asks(void *unused) {
    time_t later = 1000000000;
    struct tm date;
    gmtime_r(&later, &date);
    return unused;
}

int main(void) {
    pthread_t strand;
    time_t start = 0;
    struct tm date;
    pthread_create(&strand, 0, asks, 0);
    gmtime_r(&start, &date);
    assert(date.tm_year == 70);
    pthread_join(strand, 0);
    return 0;
}
