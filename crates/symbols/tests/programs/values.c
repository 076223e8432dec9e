#include <stdbool.h>
#include <stdlib.h>

void stop(const char *label);

enum color { RED, GREEN = 5, BLUE = -1 };

struct point {
    int x, y;
};

struct all {
    bool flag;
    char letter;
    signed char small;
    unsigned char byte;
    short s;
    unsigned u;
    long long ll;
    float f;
    double d;
    long double ld;
    enum color color, none;
    struct point p;
    int grid[2][3];
    const char *text;
    char name[8];
    unsigned low : 3;
    int mid : 5;
    bool bit : 1;
    void *nothing;
    struct point *at;
    union {
        int whole;
        unsigned char first;
    };
};

struct all global = {.s = -3, .p = {1, 2}, .grid = {{1, 2, 3}, {4, 5, 6}}};

__attribute__((noinline)) static long deep(long passed, int kept) {
    stop("deep");
    asm volatile("" : : "r"(kept));
    return kept;
}

__attribute__((noinline)) static int work(struct all *a, int n, double ratio) {
    static int calls = 4;
    static __thread int strand_own = 3;
    volatile int local = n * 2;
    struct point pair = {n, n + 1};
    strand_own += n;
    stop("work");
    calls++;
    return local + pair.x + (int)ratio + a->p.y;
}

int main(void) {
    struct point target = {7, 8};
    struct all all = {
        .flag = true,
        .letter = 'x',
        .small = -5,
        .byte = 200,
        .s = -300,
        .u = 4000000000u,
        .ll = -5000000000ll,
        .f = 1.5f,
        .d = -0.25,
        .ld = 2.5L,
        .color = GREEN,
        .none = (enum color)3,
        .p = {1, -1},
        .grid = {{1, 2, 3}, {4, 5, 6}},
        .text = "hello \"you\"",
        .name = "bank",
        .low = 5,
        .mid = -3,
        .bit = true,
        .at = &target,
        .whole = 0x102,
    };
    int result = work(&all, 21, 2.0);
    result += (int)deep(1234, result);
    return result == 0;
}
