//@ expect: pass
// Blocks of all makes, used as far as they may be: none of this is an error.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static void fill(void *block, size_t size) {
    for (size_t i = 0; i < size; i++)
        ((volatile char *)block)[i] = (char)i;
}

// A program's own allocator on one block.
static char *pool, *next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *take(size_t size) {
    pthread_mutex_lock(&lock);
    char *taken = next;
    next += size;
    pthread_mutex_unlock(&lock);
    return taken;
}

static void *use(void *unused) {
    (void)unused;
    for (size_t size = 0; size < 70; size += 3) {
        char *block = malloc(size);
        fill(block, malloc_usable_size(block));
        block = realloc(block, size + 5);
        fill(block, size + 5);
        block = realloc(block, size / 2 + 1);
        fill(block, size / 2 + 1);
        free(block);
        block = calloc(size + 1, 3);
        fill(block, 3 * (size + 1));
        free(block);
        void *aligned = 0;
        if (posix_memalign(&aligned, (size_t)16 << size % 8, size + 1) != 0)
            return unused;
        fill(aligned, size + 1);
        free(aligned);
    }
    for (int i = 0; i < 4; i++) {
        int *own = take(3 * sizeof *own);
        own[0] = own[1] = own[2] = i;
    }
    char *text = 0;
    if (asprintf(&text, "%d and %s", 12, "text") != 11)
        return unused;
    char *copy = strdup(text), *part = strndup(text, 4);
    wchar_t *wide = wcsdup(L"wide");
    if (strlen(copy) != 11 || strcmp(part, "12 a") != 0 || wcslen(wide) != 4)
        return unused;
    copy = realloc(copy, 24);
    strcat(strcat(copy, " "), "more");
    memmove(copy + 1, copy, strlen(copy) + 1);
    if (!memchr(copy, 'm', 100) || strncmp(copy, "11", 2) != 0)
        return unused;
    char *line = 0;
    size_t room = 0;
    FILE *stream = fmemopen(copy, strlen(copy), "r");
    if (getline(&line, &room, stream) != 17 || line[17] != 0)
        return unused;
    fill(line, room);
    fclose(stream);
    free(line);
    free(text);
    free(copy);
    free(part);
    free(wide);
    return 0;
}

int main(void) {
    pthread_t strand;
    void *wrong;
    pool = next = malloc(96);
    pthread_create(&strand, 0, use, 0);
    if (use(&strand))
        return 1;
    pthread_join(strand, &wrong);
    free(pool);
    return wrong != 0;
}
