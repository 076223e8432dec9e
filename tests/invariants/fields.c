// The paper's figure 6: three fields are written through a pointer that another strand changes.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

typedef struct {
    int a, b, c;
} Data;

static Data one, two;
Data *A[4] = {&one, &two, &one, NULL};
Data *volatile p = &one;

static void *writer(void *unused) {
    Data *tmp = p; //~ first
    if (tmp != NULL && p != NULL) {
        p->a = 100;
        p->b = 200;
        p->c = 300; //~ last
        assert(tmp->a == 100 && tmp->b == 200 && tmp->c == 300);
    }
    return unused;
}

static void *changer(void *unused) {
    p = A[rand() % 3];
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&two, NULL, changer, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
