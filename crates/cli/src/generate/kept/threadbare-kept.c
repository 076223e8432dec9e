/* Runs a test in the image of a program, in place of its main.
 *
 * The test and this file become a shared object that is loaded into the program:
 *     cc -g -shared -fPIC TEST.c threadbare-kept.c -o TEST.so -pthread -ldl && LD_PRELOAD=./TEST.so ./program
 * The program's constructors run as usual; then the test's state is set up, its two calls run in two threads, and the
 * process ends: 0 if all is as expected, 1 if not, 77 if the state that was recorded did not do. With KEPT_ORDER=first in
 * the environment the second call waits for the first to end; with KEPT_ORDER=second it is the other way round.
 */
#define _GNU_SOURCE
#include "threadbare-kept.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FAILED = 1, MISSING = 77 };

typedef int main_function(int, char **, char **);

/* Threadbare's runtime, if the program has it: it calls the test where it would call main. */
extern void threadbare_rt_in_place_of_main(main_function *) __attribute__((weak));

/* Memory that is not there, with a page for each name. No other mapping lies here. */
#define MISSING_BASE ((char *)0x6d6973730000)
enum { PAGE = 4096, NAMES = 256 };
static const char *missing[NAMES];
static int missing_count;

static void say(const char *text) {
    ssize_t ignored = write(2, text, strlen(text));
    (void)ignored;
}

static void end_missing(const char *what) {
    say("state missing: ");
    say(what);
    say("\n");
    _exit(MISSING);
}

void *kept_missing(const char *name) {
    int at = missing_count < NAMES ? missing_count++ : NAMES - 1;
    missing[at] = name;
    return MISSING_BASE + at * PAGE + PAGE / 2;
}

static void faulted(int signal, siginfo_t *info, void *unused) {
    char *at = info->si_addr;
    (void)unused;
    if (at >= MISSING_BASE && at < MISSING_BASE + NAMES * PAGE) end_missing(missing[(at - MISSING_BASE) / PAGE]);
    /* A crash of the program's own: again, and for good. */
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(signal, &plain, NULL);
}

/* The program's file, mapped, and where it is loaded. */
static const char *file;
static uintptr_t base;

static int first_object(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    base = info->dlpi_addr;
    return 1;
}

/* Maps a file, if it is a program. */
static const char *map(const char *path) {
    struct stat status;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return NULL;
    int is_long = !fstat(fd, &status) && status.st_size > (off_t)sizeof(ElfW(Ehdr));
    char *at = is_long ? mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    return at != MAP_FAILED && !memcmp(at, ELFMAG, SELFMAG) ? at : NULL;
}

static void open_image(void) {
    /* In a simulator the second is the simulator; of a script the first is the script. */
    file = map((const char *)getauxval(AT_EXECFN));
    if (!file) file = map("/proc/self/exe");
    if (!file) end_missing("the program's file");
    dl_iterate_phdr(first_object, NULL);
}

static void *find(const char *name, const char *source) {
    if (!file) open_image();
    const ElfW(Ehdr) *head = (const void *)file;
    const ElfW(Shdr) *sections = (const void *)(file + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        const ElfW(Sym) *symbol = (const void *)(file + sections[i].sh_offset);
        const ElfW(Sym) *end = symbol + sections[i].sh_size / sizeof *symbol;
        const char *names = file + sections[sections[i].sh_link].sh_offset, *in = "";
        for (; symbol < end; symbol++) {
            int type = symbol->st_info & 15, is_local = symbol->st_info >> 4 == STB_LOCAL;
            if (type == STT_FILE) in = names + symbol->st_name;
            if (symbol->st_shndx == SHN_UNDEF || strcmp(names + symbol->st_name, name)) continue;
            if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) continue;
            if (!source || !is_local || !strcmp(in, source)) return (void *)(base + symbol->st_value);
        }
    }
    return NULL;
}

void *kept_symbol(const char *name, const char *source) {
    void *found = find(name, source);
    if (!found) end_missing(name);
    return found;
}

void *kept_library(const char *name) {
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found) end_missing(name);
    return found;
}

void *kept_image(uint64_t offset) {
    if (!file) open_image();
    return (void *)(base + offset);
}

void *kept_block(size_t size) {
    void *block = calloc(1, size);
    if (!block) end_missing("memory for a block");
    return block;
}

static int failed;

int kept_is_watched(void) {
    return threadbare_rt_in_place_of_main != NULL;
}

void kept_unexpected(const char *what, const char *source, unsigned line) {
    failed = FAILED;
    fprintf(stderr, "%s:%u: not as expected: %s\n", source, line, what);
}

static void *runs(void *call) {
    (*(void (*const *)(void))call)();
    return NULL;
}

static int runs_test(int argc, char **argv, char **envp) {
    pthread_t threads[2];
    const char *order = getenv("KEPT_ORDER");
    void *calls[2] = {(void *)&kept_test.first, (void *)&kept_test.second};
    (void)argc, (void)argv, (void)envp;
    mmap(MISSING_BASE, NAMES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    struct sigaction action = {.sa_sigaction = faulted, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    kept_test.set_up();
    int swapped = order && !strcmp(order, "second");
    pthread_create(&threads[0], NULL, runs, calls[swapped]);
    if (order) pthread_join(threads[0], NULL);
    pthread_create(&threads[1], NULL, runs, calls[!swapped]);
    if (!order) pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    if (kept_test.expected) kept_test.expected();
    fflush(NULL);
    return failed;
}

__attribute__((constructor)) static void announce(void) {
    if (threadbare_rt_in_place_of_main) threadbare_rt_in_place_of_main(runs_test);
}

typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

int __libc_start_main(main_function *own, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
    start_function *next = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");
    main_function *instead = threadbare_rt_in_place_of_main || !find(kept_test.program_has, NULL) ? own : runs_test;
    return next(instead, argc, argv, init, fini, rtld_fini, stack_end);
}
