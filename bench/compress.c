// A compressor: strands take blocks of a text from a queue, pack each (runs of bytes that came before, by a table of hashes), and add up the sizes.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define BLOCK 65536
#define BLOCKS 96
#define STRANDS 4
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next;
static unsigned long packed;
static unsigned char *text;

static int hash(const unsigned char *at) {
    unsigned value;
    memcpy(&value, at, 4);
    return value * 2654435761u >> 20;
}

static size_t pack(const unsigned char *in, size_t size, unsigned char *out) {
    int *last = malloc(4096 * sizeof *last);
    for (int i = 0; i < 4096; i++) last[i] = -1;
    size_t made = 0, at = 0;
    while (at + 4 < size) {
        int slot = hash(in + at), before = last[slot];
        last[slot] = (int)at;
        size_t run = 0;
        if (before >= 0)
            while (run < 255 && at + run < size && in[before + run] == in[at + run]) run++;
        if (run >= 4) {
            out[made++] = 255;
            out[made++] = (unsigned char)run;
            out[made++] = (unsigned char)((at - before) >> 8);
            out[made++] = (unsigned char)(at - before);
            at += run;
        } else
            out[made++] = in[at++];
    }
    while (at < size) out[made++] = in[at++];
    free(last);
    return made;
}

static void *work(void *unused) {
    unsigned char *out = malloc(2 * BLOCK);
    for (;;) {
        pthread_mutex_lock(&lock);
        int mine = next < BLOCKS ? next++ : -1;
        pthread_mutex_unlock(&lock);
        if (mine < 0) break;
        size_t size = pack(text + (size_t)mine * BLOCK, BLOCK, out);
        pthread_mutex_lock(&lock);
        packed += size;
        pthread_mutex_unlock(&lock);
    }
    free(out);
    return unused;
}

int main(void) {
    static const char *words[] = {"strand", "lock", "wait", "signal", "reader", "writer", "queue", "a", "the", "of"};
    text = malloc((size_t)BLOCK * BLOCKS + 16);
    unsigned seed = 1;
    for (size_t at = 0; at < (size_t)BLOCK * BLOCKS;) {
        seed = seed * 1103515245 + 12345;
        const char *word = words[(seed >> 16) % 10];
        size_t length = strlen(word);
        memcpy(text + at, word, length);
        text[at + length] = ' ';
        at += length + 1;
    }
    pthread_t t[STRANDS];
    for (int i = 0; i < STRANDS; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < STRANDS; i++) pthread_join(t[i], 0);
    printf("%lu\n", packed);
    free(text);
    return 0;
}
