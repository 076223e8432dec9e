//@ expect: pass
// A buffer that several strands grow in turn.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *numbers;
static size_t count;

static void *append(void *unused) {
    (void)unused;
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
        numbers = realloc(numbers, (count + 1) * sizeof *numbers);
        numbers[count] = (int)count;
        count++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t strands[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, append, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    assert(count == 15);
    for (int i = 0; i < 15; i++)
        assert(numbers[i] == i);
    free(numbers);
    return 0;
}
