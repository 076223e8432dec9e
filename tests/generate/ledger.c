/* A ledger whose state has all that a kept test must carry: a ring of entries, a lock in a block, a static function behind a pointer, a text, a pointer
 * into the middle of a block, and the same ledger in both calls. With `careful` everything is done under the lock. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum kind { INCOME, COST };

struct ledger;

struct entry {
    int amount;
    enum kind kind;
    struct entry *next;
    struct ledger *owner;
};

struct ledger {
    char name[16];
    pthread_mutex_t lock;
    struct entry *last;
    int (*fee)(int);
    double rate;
    long totals[3];
    unsigned closed : 1, depth : 7;
};

static int careful;
static struct ledger *books;
static long looks;

static int flat_fee(int amount) {
    return amount > 100 ? 2 : 1;
}

static void enter(struct ledger *ledger) {
    if (careful) pthread_mutex_lock(&ledger->lock);
}

static void leave(struct ledger *ledger) {
    if (careful) pthread_mutex_unlock(&ledger->lock);
}

/* Adds an entry to the ring. */
__attribute__((noinline)) static void book(struct ledger *ledger, int amount, enum kind kind) {
    struct entry *entry = malloc(sizeof *entry);
    *entry = (struct entry){.amount = amount, .kind = kind, .owner = ledger};
    enter(ledger);
    if (ledger->last) {
        entry->next = ledger->last->next;
        ledger->last->next = entry;
    } else {
        entry->next = entry;
    }
    ledger->last = entry;
    ledger->totals[0] += amount - ledger->fee(amount);
    leave(ledger);
}

/* Goes round the ring, as deep as the ledger says. */
__attribute__((noinline)) static long total(struct ledger *ledger) {
    long sum = 0;
    enter(ledger);
    struct entry *entry = ledger->last;
    for (unsigned i = 0; i < ledger->depth && entry; i++) {
        sum += entry->amount;
        entry = entry->next;
        if (entry == ledger->last) break;
    }
    leave(ledger);
    return sum;
}

/* Adds to a number in the middle of a ledger. */
__attribute__((noinline)) static void add(struct ledger *ledger, long *number, long amount) {
    enter(ledger);
    *number += amount;
    looks++;
    leave(ledger);
}

static void *clerk(void *unused) {
    book(books, 5, COST);
    add(books, &books->totals[1], 7);
    return unused;
}

static void *auditor(void *unused) {
    total(books);
    add(books, &books->totals[1], 3);
    return unused;
}

int main(int argc, char **argv) {
    (void)argv;
    careful = argc > 1;
    books = calloc(1, sizeof *books);
    strcpy(books->name, "main street");
    pthread_mutex_init(&books->lock, NULL);
    books->fee = flat_fee;
    books->rate = 1.5;
    books->depth = 2;
    for (int i = 1; i <= 9; i++) book(books, i * 50, INCOME);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, clerk, NULL);
    pthread_create(&threads[1], NULL, auditor, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
