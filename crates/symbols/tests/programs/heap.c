#include <pthread.h>
#include <stdlib.h>

void heap(const char *label, const void *block, unsigned long size, const volatile void *part);
#define NO_TAIL_CALL asm volatile("")

typedef struct account {
    int id;
    long balance;
    pthread_mutex_t lock;
    long history[4];
} account_t;

typedef struct {
    long first, last;
} range_t;

struct left {
    long a, b;
};

struct right {
    long c, d;
};

struct hidden {
    char key[24];
    double price;
};

struct packet {
    int length;
    char body[];
};

struct tree {
    struct tree *below[2];
    account_t *owner;
};

static struct left *lefts;

__attribute__((noinline)) static void touch(account_t *one, struct tree *root, void *raw) {
    heap("field", one, sizeof *one, &one->balance);
    heap("lock", one, sizeof *one, &one->lock);
    heap("array", one, sizeof *one, &one->history[3]);
    heap("deep", root->below[1]->owner, sizeof *one, &root->below[1]->owner->id);
    heap("cast", raw, sizeof(struct hidden), &((struct hidden *)raw)->price);
    heap("unnamed", raw, sizeof(struct hidden), (char *)raw + 24); // price.
    NO_TAIL_CALL;
}

__attribute__((noinline)) static void choose(struct right *r, range_t *range) {
    heap("right", r, sizeof *r, &r->d);
    heap("doubt", r, (lefts->b, sizeof *r), &r->d);
    heap("range", range, sizeof *range, &range->last);
    NO_TAIL_CALL;
}

__attribute__((noinline)) static void many(account_t *all, struct packet *packet, int *counts) {
    heap("element", all, 3 * sizeof *all, &all[2].balance);
    heap("open", packet, 4 + 16, &packet->body[7]);
    heap("counts", counts, 10 * sizeof *counts, &counts[5]);
    heap("other", counts, 10 * sizeof *counts, &((long *)all)[1]);
    NO_TAIL_CALL;
}

int main(void) {
    account_t *all = calloc(3, sizeof *all);
    struct tree leaf = {.owner = all}, root = {.below = {&leaf, &leaf}};
    struct left *left = calloc(1, sizeof *left);
    lefts = left;
    void *raw = calloc(1, sizeof(struct hidden));
    touch(all, &root, raw);
    choose(calloc(1, sizeof(struct right)), calloc(1, sizeof(range_t)));
    many(all, calloc(1, 20), calloc(10, sizeof(int)));
    return 0;
}
