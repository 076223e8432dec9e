//@ expect: assertion
//@ max-runs: 100
// A date lies in a buffer of libc's until another strand asks for one.
#include <assert.h>
#include <pthread.h>
#include <time.h>

static void *asks(void *unused) {
    time_t later = 1000000000;
    gmtime(&later);
    return unused;
}

int main(void) {
    pthread_t strand;
    time_t start = 0;
    pthread_create(&strand, 0, asks, 0);
    struct tm *date = gmtime(&start);
    assert(date->tm_year == 70); //~ here
    pthread_join(strand, 0);
    return 0;
}
