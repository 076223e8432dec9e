// The worker is started before its configuration is set.
//@ expect: crash
//@ pair: set use
//@ pattern: use-before-init
//@ object: config
#include <pthread.h>

struct config {
    int verbose;
};
static struct config defaults = {1};
static struct config *config;

static void *worker(void *arg) {
    return config->verbose ? arg : 0; //~ use
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    config = &defaults; //~ set
    pthread_join(t, 0);
    return 0;
}
