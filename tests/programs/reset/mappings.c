//@ expect: assertion
//@ max-runs: 200
// Where it fails, a strand goes through the list of its mappings first, with operations for each: a process whose runs are undone must
// not have others in it than one that makes a single run, or the replay departs. A backtrace of Rust's does the same.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *strand(void *unused) {
    (void)unused;
    int seen = total;
    total = seen + 1;
    return 0;
}

static void entry(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static void *look(void *unused) {
    (void)unused;
    int list = open("/proc/self/maps", O_RDONLY);
    char part[64];
    while (read(list, part, sizeof part) > 0)
        entry();
    close(list);
    FILE *stream = fopen("/proc/self/maps", "r");
    char line[512];
    while (fgets(line, sizeof line, stream))
        entry();
    fclose(stream);
    return 0;
}

int main(void) {
    pthread_t strands[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&strands[i], 0, strand, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], 0);
    if (total != 2) {
        pthread_create(&strands[0], 0, look, 0);
        pthread_join(strands[0], 0);
    }
    assert(total == 2);
    return 0;
}
