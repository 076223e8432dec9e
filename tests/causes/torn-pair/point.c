// The reader comes between the two writes.
//@ expect: assertion
//@ pair: set_x get_x
//@ pair: set_y get_y
//@ pair: set_x get_y
//@ pattern: torn-pair
//@ object: point.x|point.y
#include <assert.h>
#include <pthread.h>

static volatile struct {
    int x, y;
} point = {1, 1};

static void *move(void *arg) {
    point.x = 2; //~ set_x
    point.y = 2; //~ set_y
    return arg;
}

int main(void) {
    pthread_t mover;
    pthread_create(&mover, 0, move, 0);
    int x = point.x; //~ get_x
    int y = point.y; //~ get_y
    assert(x == y); //~ end
    pthread_join(mover, 0);
    return 0;
}
