// Values of every kind, each changed under the lock by both strands; and three whose bytes are in doubt.
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum phase { IDLE, WORKING = 7, DONE = -2, NEVER = 9 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
enum phase phase = IDLE;
bool ready;
double ratio = 0.5;
float half = 0.25f;
int8_t tiny = -3;
uint16_t small = 60000;
uint64_t large = UINT64_MAX;
char *text = "a";
_Atomic int atom = 4;
struct {
    unsigned low : 3;
    unsigned high : 5;
} bits;
union {
    int number;
    float fraction;
} both;
struct __attribute__((packed)) {
    char head;
    int body;
} packed;

static void change(void) {
    pthread_mutex_lock(&lock);
    phase = phase == IDLE ? WORKING : phase == WORKING ? DONE : IDLE;
    ready = !ready;
    ratio += 1.0;
    half += 1.0f;
    tiny -= 1;
    small += 1;
    large -= 1;
    text = text == 0 ? "b" : 0;
    atom++;
    bits.low++;
    both.number++;
    packed.body++;
    pthread_mutex_unlock(&lock);
}

static void *strand(void *unused) {
    for (int i = 0; i < 4; i++)
        change();
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, strand, NULL);
    pthread_create(&two, NULL, strand, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
