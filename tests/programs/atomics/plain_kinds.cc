//@ expect: pass
// Plain accesses of every width and kind under a lock: bytes to vectors, unaligned, volatile, copies, vtables.
#include <cassert>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

struct Base {
    virtual ~Base() = default;
    virtual int id() const { return 0; }
};
struct Derived : Base {
    int id() const override { return 1; }
};

struct __attribute__((packed)) Packed {
    char tag;
    std::uint16_t two;
    std::uint32_t four;
    std::uint64_t eight;
};

typedef float Vec __attribute__((vector_size(16)));

static std::mutex lock;
static Packed packed{};
static volatile int noisy;
static Vec vector_value{};
static long double wide;
static char text[100];
static std::string words;

static void work() {
    for (int i = 0; i < 2; i++) {
        std::lock_guard guard(lock);
        packed.two++;
        packed.four += 2;
        packed.eight += 3;
        noisy = noisy + 1;
        vector_value += Vec{1, 2, 3, 4};
        wide += 0.5L;
        char copy[100];
        std::memcpy(copy, text, sizeof text);
        copy[99]++;
        std::memmove(text, copy, sizeof copy);
        std::memset(text, i, 50);
        words += "word, long enough to leave the small buffer; ";
        Base *base = i ? new Base : new Derived;
        assert(base->id() == 1 - i);
        delete base;
    }
}

int main() {
    std::thread a(work), b(work);
    a.join();
    b.join();
    assert(packed.two == 4 && packed.four == 8 && packed.eight == 12 && noisy == 4);
    assert(vector_value[3] == 16 && wide == 2 && text[99] == 4 && text[0] == 1);
    assert(words.size() == 4 * 45);
}
