//@ expect: assertion
//@ preemptions: 1
//@ pair: look store
// Looked up under the lock, missed, built without it, stored under it again: built twice.
#include <atomic>
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static std::map<std::string, int> cache;
static std::atomic<int> built{0};

static int lookup(const std::string &key) {
    {
        std::lock_guard<std::mutex> guard(lock);
        if (auto hit = cache.find(key); hit != cache.end()) //~ look
            return hit->second;
    }
    int value = static_cast<int>(key.size());
    built++;
    std::lock_guard<std::mutex> guard(lock);
    cache[key] = value; //~ store
    return value;
}

int main() {
    std::thread a([] { assert(lookup("threads") == 7); });
    assert(lookup("threads") == 7);
    a.join();
    assert(built == 1); //~ here
}
