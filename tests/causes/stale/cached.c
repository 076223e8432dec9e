// The length is kept in a local while another strand makes the list shorter.
//@ expect: assertion
//@ pair: keep shorten
//@ pair: shorten use
//@ pair: clear use
//@ pattern: check-then-act|torn-pair|order-violation
//@ object: list.length|list.used[2]|list.used
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static struct {
    _Atomic int length;
    _Atomic int used[3];
} list = {3, {1, 1, 1}};
static atomic_int looks;

static void *shorten(void *arg) {
    list.used[2] = 0; //~ clear
    list.length = 2; //~ shorten
    return arg;
}

static void *last(void *arg) {
    int length = list.length; //~ keep
    atomic_fetch_add(&looks, 1);
    atomic_fetch_add(&looks, 1);
    int used = list.used[length - 1]; //~ use
    assert(used); //~ end
    return arg;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, shorten, 0);
    pthread_create(&y, 0, last, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
