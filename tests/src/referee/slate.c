// Compiled without instrumentation: what a run leaves behind, out of sight of the engine. The record of the run under way is at a fixed
// address in a file's memory, so its state at the very end of the process stays there, whoever ends it. A run that begins puts the
// record of the run before it on the list behind.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BASE = 0x10000000, RECORD = 256, LIST = 4096, ROOM = 1 << 16 };

static unsigned char *const record = (unsigned char *)BASE;
static unsigned *const count = (unsigned *)(BASE + RECORD);

__attribute__((constructor)) static void slate_open(void) {
    const char *name = getenv("REFEREE_SLATE");
    int file = name ? open(name, O_RDWR) : -1;
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *memory = mmap(record, LIST + RECORD * ROOM, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, file, 0);
    if (memory != record) _exit(99);
    if (file >= 0) close(file);
}

// `count[1]` tells that a run is under way or is the last.
void slate_begin(void) {
    unsigned char *from = record, *to = record + LIST + (size_t)RECORD * (count[0] % ROOM);
    if (count[1]) {
        for (int at = 0; at < RECORD; at++) ((volatile unsigned char *)to)[at] = from[at];
        count[0]++;
    }
    count[1] = 1;
    for (int at = 0; at < RECORD; at++) ((volatile unsigned char *)record)[at] = 0;
}
