// One input in fifty leads to a lost update: NEEDLE says which. Other inputs have work of their own, all of it under a lock.
//
//   0 a number                       5 a string and an option
//   1 a number in a narrow range     6 the length of the standard input
//   2 a string with a rule           7 a variable of the environment
//   3 a file's length                8 a byte of a file
//   4 an option and a number         9 two numbers
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int special, sort;
static int counters[4];
static volatile int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long length(FILE *file) {
    long count = 0;
    while (fgetc(file) != EOF)
        count++;
    return count;
}

static void read_input(char **words) {
#if NEEDLE == 0
    int number = atoi(words[1]);
    special = number == 37, sort = number % 3;
#elif NEEDLE == 1
    int number = atoi(words[1]);
    special = number >= 100 && number < 120, sort = number < 0;
#elif NEEDLE == 2
    size_t size = strlen(words[1]);
    special = size == 5 && words[1][0] < 'n', sort = size > 12;
#elif NEEDLE == 3
    FILE *file = fopen(words[1], "r");
    long size = length(file);
    fclose(file);
    special = size == 13, sort = size % 2;
#elif NEEDLE == 4
    int number = atoi(words[1]);
    special = number % 25 == 3 && words[2], sort = words[2] ? 1 : 0;
#elif NEEDLE == 5
    special = words[1][0] == 'a' && words[1][1] == 'b' && !strcmp(words[2], "deep"), sort = !strcmp(words[2], "flat");
#elif NEEDLE == 6
    long size = length(stdin);
    special = size == 49, sort = size > 25;
#elif NEEDLE == 7
    int number = atoi(getenv("LEVEL"));
    special = number == 50, sort = number > 25;
#elif NEEDLE == 8
    FILE *file = fopen(words[1], "r");
    int byte = fgetc(file);
    fclose(file);
    special = byte >= 0 && byte < 5, sort = byte > 127;
#else
    int one = atoi(words[1]), two = atoi(words[2]);
    special = one * one + two * two == 25, sort = one > two;
#endif
    (void)words;
    sort &= 3;
}

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    switch (sort) {
    case 0:
        counters[0]++;
        break;
    case 1:
        counters[1] += 2;
        break;
    default:
        counters[2]--;
        counters[3]++;
    }
    pthread_mutex_unlock(&lock);
    if (special) {
        int seen = total;
        total = seen + 1;
    }
    return 0;
}

int main(int count, char **words) {
    (void)count;
    read_input(words);
    pthread_t first, second;
    pthread_create(&first, 0, work, 0);
    pthread_create(&second, 0, work, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(!special || total == 2);
    return 0;
}
