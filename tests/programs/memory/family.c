//@ expect: pass
// calloc, realloc, reallocarray, aligned blocks, usable sizes, strdup, getline, failing requests.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *work(void *unused) {
    (void)unused;
    int *zeros = calloc(100, sizeof *zeros);
    for (int i = 0; i < 100; i++)
        assert(zeros[i] == 0);
    free(zeros);
    char *text = malloc(4);
    strcpy(text, "abc");
    text = realloc(text, 5000);
    assert(strcmp(text, "abc") == 0 && malloc_usable_size(text) >= 5000);
    text = reallocarray(text, 2, 10);
    assert(strncmp(text, "abc", 4) == 0);
    text = realloc(realloc(text, 1), 2);
    assert(text[0] == 'a');
    free(text);
    void *page;
    assert(posix_memalign(&page, 4096, 100) == 0 && (uintptr_t)page % 4096 == 0);
    assert(posix_memalign(&page, 3, 100) == EINVAL);
    free(page);
    void *line = aligned_alloc(64, 128), *other = memalign(256, 10);
    assert((uintptr_t)line % 64 == 0 && (uintptr_t)other % 256 == 0);
    free(line);
    free(other);
    for (size_t size = 0; size < 100; size++) {
        char *block = malloc(size);
        assert((uintptr_t)block % 16 == 0);
        free(block);
    }
    free(0);
    char *copy = strdup("copied");
    char *made = 0;
    assert(asprintf(&made, "%s %d", copy, 5) == 8 && strcmp(made, "copied 5") == 0);
    free(copy);
    free(made);
    return 0;
}

int main(void) {
    pthread_t a, b;
    volatile size_t huge = SIZE_MAX / 2;
    void *volatile refused = malloc(huge);
    assert(refused == 0 && errno == ENOMEM);
    refused = calloc(huge, 4);
    assert(refused == 0);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
