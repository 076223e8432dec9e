//@ expect: pass
//@ runs: 50
// Large blocks, used to their first and last byte, grown, shrunk, freed and used again.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *use(void *unused) {
    (void)unused;
    for (int round = 0; round < 8; round++) {
        size_t size = 70000 + round * 33333;
        char *block = malloc(size);
        block[0] = block[1] = block[size - 1] = 1;
        memset(block + 4090, 2, 20000);
        for (size_t i = 0; i < size; i += 4095)
            block[i] = 3;
        block = realloc(block, size += 5000);
        block[size - 1] = 4;
        block = realloc(block, size = 66000);
        block[size - 1] = 5;
        block = realloc(block, size = 100);
        block[size - 1] = 6;
        block = realloc(block, size = 300000);
        block[99] = block[size - 1] = 7;
        free(block);
        char *page = aligned_alloc(8192, 8192 * 10);
        page[0] = page[8192 * 10 - 1] = 8;
        free(page);
        page = aligned_alloc(1 << 17, 100);
        page[0] = page[99] = 9;
        free(page);
    }
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, use, 0);
    use(0);
    pthread_join(strand, 0);
    return 0;
}
