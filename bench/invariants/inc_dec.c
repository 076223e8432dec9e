// Strands that count up and strands that count down, each of them flagged while it does so.
#include "strands.h"

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int value, ups, downs;
bool up_flag, down_flag;

static void *up(void *unused) {
    pthread_mutex_lock(&lock);
    up_flag = true;
    value++;
    ups++;
    up_flag = false;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *down(void *unused) {
    pthread_mutex_lock(&lock);
    if (value > 0) {
        down_flag = true;
        value--;
        downs++;
        down_flag = false;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    RUN(up, down, up);
    assert(value == ups - downs);
}
