#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

void mark(const char *label);
void show(const char *label, const void *address);

struct account {
    int id;
    struct {
        long balance;
        unsigned frozen : 1, level : 7;
    };
    pthread_mutex_t lock;
    union {
        long whole;
        char bytes[8];
    } raw;
};

typedef struct account account_t;

account_t account;
static account_t table[8];
int grid[3][4];
_Atomic int hits;
struct timespec deadline;
volatile long plain = 5;
static __thread int per_strand;
__thread account_t own[2];
void (*handler)(int, char *);

static inline __attribute__((always_inline)) void audit(account_t *a) {
    a->balance++;
    mark("inlined");
}

static __attribute__((noinline)) int deposit(account_t *a, int amount) {
    static long calls;
    calls++;
    show("calls", &calls);
    a->balance += amount;
    audit(a);
    mark("deposit");
    return (int)calls;
}

int main(void) {
    per_strand = deposit(&table[3], 7);
    show("account", &account);
    show("account.balance", &account.balance);
    show("account.lock", &account.lock);
    show("account.raw.whole", &account.raw.whole);
    show("table[3].lock", &table[3].lock);
    show("table[7].balance", &table[7].balance);
    show("grid[2][1]", &grid[2][1]);
    show("hits", (const void *)&hits);
    show("deadline.tv_nsec", &deadline.tv_nsec);
    show("plain", (const void *)&plain);
    show("handler", (const void *)&handler);
    show("tls:per_strand", &per_strand);
    show("tls:own[1].balance", &own[1].balance);
    int local;
    show("stack", &local);
    mark("main");
    return 0;
}
