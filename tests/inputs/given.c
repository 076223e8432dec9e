// What an input can be, and every usual way to it: options, variables, standard input, a file. With EARLY_… a constructor looks at it before `main`.
#include <assert.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef EARLY_ARGS
static volatile char early;
__attribute__((constructor)) static void look(int argc, char **argv) { early = argc > 1 ? argv[1][0] : 0; }
#endif
#ifdef EARLY_ENV
static volatile int early;
__attribute__((constructor)) static void look(void) { early = atoi(getenv("LEVEL")); }
#endif
#ifdef EARLY_STDIN
static volatile int early;
__attribute__((constructor)) static void look(void) { early = getchar(); ungetc(early, stdin); }
#endif
#ifdef KEEPS
// Pointers that are kept, and looked at later.
static char **kept, *level;
__attribute__((constructor)) static void look(int argc, char **argv) {
    kept = argv;
    level = getenv("LEVEL");
    (void)argc;
}
#endif

static int balance, rounds = 1;

static void *deposit(void *unused) {
    (void)unused;
    for (int i = 0; i < rounds; i++) {
        int seen = balance;
        balance = seen + 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"count", 1, 0, 'c'}, {"deep", 0, 0, 'd'}, {0, 0, 0, 0}};
    int deep = 0, count = 0;
    for (int option; (option = getopt_long(argc, argv, "c:d", options, 0)) != -1;) {
        if (option == 'c')
            count = atoi(optarg);
        deep |= option == 'd';
    }
#ifdef KEEPS
    assert(kept == argv && level == getenv("LEVEL"));
#endif
    char line[64] = "";
    if (!fgets(line, sizeof line, stdin))
        line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    FILE *file = fopen(argv[optind], "rb");
    assert(file && argv[optind + 1] == 0);
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    fclose(file);
    int wanted = atoi(getenv("LEVEL"));
    printf("%d %d %s %ld %d\n", count, deep, line, length, wanted);
    // What was read may be written to.
    memset(argv[optind], '#', strlen(argv[optind]));
    rounds = 1 + (count > 2) + (wanted > 1) + (length > 3);
    pthread_t a, b;
    pthread_create(&a, 0, deposit, 0);
    if (deep || strlen(line) > 2)
        pthread_create(&b, 0, deposit, 0);
    else
        deposit(0);
    pthread_join(a, 0);
    if (deep || strlen(line) > 2)
        pthread_join(b, 0);
    assert(balance == 2 * rounds || count != 3 || !deep || line[0] != 'y' || wanted != 2);
    return 0;
}
