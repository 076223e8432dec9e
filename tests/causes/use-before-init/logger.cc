// A logger is made after the thread that uses it; a counter of tries is touched by both before.
//@ expect: crash
//@ pair: made used
//@ pattern: use-before-init
//@ object: logger
#include <atomic>
#include <thread>

struct Logger {
    int level = 2;
};

static std::atomic<int> tries;
static Logger *logger;

__attribute__((noinline)) static int level() {
    return logger->level; //~ used
}

int main() {
    std::thread worker([] {
        for (int i = 0; i < 3; i++) tries++;
        if (level() > 1) tries++; //~ uses
    });
    for (int i = 0; i < 3; i++) tries++;
    logger = new Logger; //~ made
    worker.join();
    delete logger;
}
