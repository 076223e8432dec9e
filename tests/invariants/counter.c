// The paper's figure 9: strands that each add one to a counter.
#include <assert.h>
#include <pthread.h>

#define NUM 3

int sum;

static void *thread(void *unused) {
    sum = sum + 1; //~ both
    return unused;
}

int main(void) {
    pthread_t all[NUM];
    for (int i = 0; i < NUM; i++)
        pthread_create(&all[i], NULL, thread, NULL);
    for (int i = 0; i < NUM; i++)
        pthread_join(all[i], NULL);
    assert(sum == NUM);
    return 0;
}
