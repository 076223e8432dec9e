//@ expect: assertion
//@ preemptions: 1
//@ pair: cut here
//@ pair: measure cut
// Appending one buffer to another: its length is read under its lock, and its text under the lock again, later.
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct buffer {
    pthread_mutex_t lock;
    int length;
    char text[64];
};

static struct buffer source = {.lock = PTHREAD_MUTEX_INITIALIZER, .length = 6, .text = "thread"};
static struct buffer target = {.lock = PTHREAD_MUTEX_INITIALIZER, .length = 4, .text = "bare"};

static int length_of(struct buffer *buffer) {
    pthread_mutex_lock(&buffer->lock);
    int length = buffer->length; //~ measure
    pthread_mutex_unlock(&buffer->lock);
    return length;
}

static void copy_out(struct buffer *buffer, int from, int to, char *out) {
    pthread_mutex_lock(&buffer->lock);
    assert(to <= buffer->length); //~ here
    memcpy(out, buffer->text + from, to - from);
    pthread_mutex_unlock(&buffer->lock);
}

static void cut(struct buffer *buffer, int from, int to) {
    pthread_mutex_lock(&buffer->lock);
    if (to > buffer->length)
        to = buffer->length;
    memmove(buffer->text + from, buffer->text + to, buffer->length - to);
    buffer->length -= to - from; //~ cut
    pthread_mutex_unlock(&buffer->lock);
}

static void *append(void *unused) {
    pthread_mutex_lock(&target.lock);
    int length = length_of(&source); //~ measures
    copy_out(&source, 0, length, target.text + target.length); //~ copies
    target.length += length;
    pthread_mutex_unlock(&target.lock);
    return unused;
}

static void *erase(void *unused) {
    cut(&source, 0, 6);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, append, 0);
    pthread_create(&two, 0, erase, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
