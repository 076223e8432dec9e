// The paper's multithreaded printing: ten threads write lines into one buffer. With an argument they take a lock.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char page[4096];
static int used;
static int lines;
static int careful;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static void print_line(int number) {
    char text[16];
    int length = snprintf(text, sizeof text, "line %d\n", number);
    if (careful) pthread_mutex_lock(&guard);
    memcpy(page + used, text, length); //~ copy
    used += length; //~ used
    lines++; //~ lines
    if (careful) pthread_mutex_unlock(&guard);
}

static void *printer(void *number) {
    print_line((int)(long)number);
    return 0;
}

int main(int argc, char **argv) {
    (void)argv;
    careful = argc > 1;
    pthread_t threads[10];
    for (long i = 0; i < 10; i++) pthread_create(&threads[i], 0, printer, (void *)i);
    for (int i = 0; i < 10; i++) pthread_join(threads[i], 0);
    printf("%d\n", lines > 0);
    return 0;
}
