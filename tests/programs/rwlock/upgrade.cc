//@ expect: assertion
//@ preemptions: 1
//@ pair: look set
// "Upgrade" by unlocking and locking again, without looking again.
#include <cassert>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static std::optional<int> config;
static int loads;

static int get() {
    {
        std::shared_lock guard(lock);
        if (config) //~ look
            return *config;
    }
    std::unique_lock guard(lock);
    config = 4; //~ set
    loads++;
    return *config;
}

int main() {
    std::thread a(get), b(get);
    a.join();
    b.join();
    assert(loads == 1); //~ here
}
