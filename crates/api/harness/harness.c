/* Runs one test of many: in parallel, or its calls one at a time in every order. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STRANDS = 3, MOVES = 16, TEXT = 2048 };

struct move {
    int strand, skip;
};

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct move order[MOVES];
    int length, at, running, ended;
    int gone[STRANDS + 1];
    char outcome[TEXT];
};

struct case_ {
    int number;
    void (*run)(struct gate *, char *);
    int strands;
    int lengths[STRANDS];
    int may_fail[STRANDS][MOVES];
};

/* A strand of a test: what it has, and what its calls gave. */
struct strand {
    struct gate *gate;
    void *objects[4];
    char said[TEXT];
};

static int next_strand(struct gate *g) {
    while (g->at < g->length && g->gone[g->order[g->at].strand])
        g->at++;
    return g->at < g->length ? g->order[g->at].strand : -1;
}

/* Before a call. Whether it is left out. */
static int turn(struct gate *g, int strand) {
    if (!g)
        return 0;
    pthread_mutex_lock(&g->lock);
    while (g->running || next_strand(g) != strand)
        pthread_cond_wait(&g->changed, &g->lock);
    g->running = 1;
    int skip = g->order[g->at].skip;
    pthread_mutex_unlock(&g->lock);
    return skip;
}

static void done(struct gate *g) {
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    g->running = 0;
    g->at++;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static void gone(struct gate *g, int strand) {
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    g->gone[strand] = 1;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static void say(char *said, const char *text) {
    size_t length = strlen(said);
    snprintf(said + length, TEXT - length, "%s%s", length ? ", " : "", text);
}

static void say_number(char *said, long long number) {
    char text[32];
    snprintf(text, sizeof text, "%lld", number);
    say(said, text);
}

/* A payload is memory that its maker wrote and its taker reads. */
static void *payload(int id) {
    int *made = calloc(16, sizeof(int));
    *made = id;
    return made;
}

static void say_payload(char *said, const void *taken) {
    char text[32];
    if (!taken)
        strcpy(text, "NULL");
    else if ((size_t)taken < 4096 || (size_t)taken > (size_t)-4096)
        snprintf(text, sizeof text, "%zd", (size_t)taken);
    else
        snprintf(text, sizeof text, "#%d", *(const int *)taken);
    say(said, text);
}

struct job {
    const struct case_ *of;
    struct gate *gate;
};

static void *in_order(void *argument) {
    struct job *job = argument;
    char text[TEXT] = "";
    job->of->run(job->gate, text);
    pthread_mutex_lock(&job->gate->lock);
    strcpy(job->gate->outcome, text);
    job->gate->ended = 1;
    pthread_cond_broadcast(&job->gate->changed);
    pthread_mutex_unlock(&job->gate->lock);
    return NULL;
}

/* -1: there is an outcome; -2: it waits outside the strands; else the call that waits. */
static int sequential(const struct case_ *of, const struct move *order, int length, char *outcome) {
    struct gate *g = calloc(1, sizeof *g);
    struct job *job = calloc(1, sizeof *job);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    memcpy(g->order, order, sizeof *order * (size_t)length);
    g->length = length;
    job->of = of;
    job->gate = g;
    pthread_t thread;
    pthread_create(&thread, NULL, in_order, job);
    pthread_detach(thread);
    pthread_mutex_lock(&g->lock);
    int result = -1;
    while (!g->ended) {
        int at = g->at, running = g->running;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 100000;
        int late = pthread_cond_timedwait(&g->changed, &g->lock, &until);
        if (late && !g->ended && at == g->at && running == g->running) {
            result = running ? at : -2;
            break;
        }
    }
    strcpy(outcome, g->outcome);
    pthread_mutex_unlock(&g->lock);
    return result;
}

static struct move blocked[4096][MOVES];
static int blocked_length[4096], blocked_count;
static char seen[4096][TEXT];
static int seen_count;
static FILE *told;

static int is_blocked(const struct move *order, int length) {
    for (int i = 0; i < blocked_count; i++)
        if (blocked_length[i] <= length && !memcmp(blocked[i], order, sizeof *order * (size_t)blocked_length[i]))
            return 1;
    return 0;
}

static int moves(const struct case_ *of, const struct move *order, int length, struct move *out) {
    int count = 0;
    for (int strand = 0; strand < of->strands; strand++) {
        int made = 0;
        for (int i = 0; i < length; i++)
            made += order[i].strand == strand;
        if (made == of->lengths[strand])
            continue;
        out[count++] = (struct move){strand, 0};
        if (of->may_fail[strand][made])
            out[count++] = (struct move){strand, 1};
    }
    return count;
}

static void all_orders(const struct case_ *of, struct move *order, int length) {
    struct move next[2 * STRANDS];
    int count = moves(of, order, length, next);
    if (is_blocked(order, length))
        return;
    if (count == 0) {
        char outcome[TEXT];
        int end = sequential(of, order, length, outcome);
        if (end == -2) {
            fprintf(told, "stuck outside\n");
        } else if (end >= 0 && blocked_count < 4096) {
            memcpy(blocked[blocked_count], order, sizeof *order * (size_t)(end + 1));
            blocked_length[blocked_count++] = end + 1;
            /* Whether all others wait there, too. */
            struct move others[2 * STRANDS], whole[MOVES];
            int some = moves(of, order, end, others), wait = 0;
            memcpy(whole, order, sizeof *order * (size_t)end);
            for (int i = 0; i < some; i++) {
                whole[end] = others[i];
                wait += is_blocked(whole, end + 1);
            }
            if (wait == some)
                fprintf(told, "stuck at %d\n", end);
        } else if (end == -1) {
            for (int i = 0; i < seen_count; i++)
                if (!strcmp(seen[i], outcome))
                    return;
            if (seen_count < 4096)
                strcpy(seen[seen_count++], outcome);
            fprintf(told, "outcome %s\n", outcome);
        }
        return;
    }
    for (int i = 0; i < count; i++) {
        order[length] = next[i];
        all_orders(of, order, length + 1);
    }
}

extern void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));

/* Ends with words for the report: what came out is of no order. */
static void not_atomic(const char *outcome) {
    static char text[TEXT + 32];
    snprintf(text, sizeof text, "not-atomic: %s", outcome);
    __assert_fail(text, __FILE__, __LINE__, __func__);
}

static int harness_main(int argc, char **argv, const struct case_ *cases, int count) {
    if (argc != 4) {
        fprintf(stderr, "usage: NUMBER orders|parallel FILE\n");
        return 2;
    }
    const struct case_ *of = NULL;
    for (int i = 0; i < count; i++)
        if (cases[i].number == atoi(argv[1]))
            of = &cases[i];
    if (!of)
        return 2;
    if (!strcmp(argv[2], "orders")) {
        struct move order[MOVES];
        told = fopen(argv[3], "w");
        if (!told)
            return 2;
        all_orders(of, order, 0);
        fclose(told);
        _Exit(0);
    }
    static char allowed[1 << 20];
    FILE *file = fopen(argv[3], "r");
    if (!file)
        return 2;
    allowed[fread(allowed, 1, sizeof allowed - 1, file)] = 0;
    fclose(file);
    static char outcome[TEXT];
    of->run(NULL, outcome);
    for (char *line = strtok(allowed, "\n"); line; line = strtok(NULL, "\n"))
        if (!strncmp(line, "outcome ", 8) && !strcmp(line + 8, outcome))
            return 0;
    not_atomic(outcome);
    return 1;
}
