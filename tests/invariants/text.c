// A name that is written letter by letter: whoever reads it in between finds half of one and half of the other.
#include <assert.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char name[8] = "ada";

static void letter(int at, char to) {
    pthread_mutex_lock(&lock);
    name[at] = to;
    pthread_mutex_unlock(&lock);
}

static void *rename_all(void *argument) {
    const char *to = argument;
    letter(0, to[0]); //~ first
    letter(1, to[1]);
    letter(2, to[2]); //~ last
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, rename_all, "bob");
    pthread_create(&two, NULL, rename_all, "eve");
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    char seen[8];
    for (int i = 0; i < 8; i++)
        seen[i] = name[i]; //~ look
    assert(strcmp(seen, "bob") == 0 || strcmp(seen, "eve") == 0);
    return 0;
}
