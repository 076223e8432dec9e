// What main reads behind the join is ordered by it, and by nothing else: no choice moves it, and the table has it all the same.
#include <assert.h>
#include <pthread.h>

static int result;

static void *work(void *unused) {
    result = 1; //~ write
    return unused;
}

int main(void) {
    pthread_t worker;
    result = 5; //~ before
    pthread_create(&worker, 0, work, 0);
    pthread_join(worker, 0);
    assert(result == 1); //~ read
    return 0;
}
