//@ expect: pass
// Strands print through one FILE: lines stay whole, and a locked pair of lines stays together.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *out;
static atomic_int pairs;

static void *print(void *arg) {
    int me = (int)(long)arg;
    for (int i = 0; i < 2; i++) {
        flockfile(out);
        fprintf(out, "%d begins\n", me);
        atomic_fetch_add(&pairs, 1);
        fprintf(out, "%d ends\n", me);
        funlockfile(out);
    }
    return 0;
}

int main(void) {
    char *text;
    size_t size;
    pthread_t a, b;
    out = open_memstream(&text, &size);
    pthread_create(&a, 0, print, (void *)1);
    pthread_create(&b, 0, print, (void *)2);
    pthread_join(a, 0);
    pthread_join(b, 0);
    fclose(out);
    int lines = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(0, "\n"), lines++) {
        char who = line[0];
        line = strtok(0, "\n");
        assert(line && line[0] == who && strcmp(line + 2, "ends") == 0);
    }
    assert(lines == 4 && atomic_load(&pairs) == 4);
    free(text);
    printf("four pairs\n");
    return 0;
}
