//@ expect: pass
// A sequence lock over atomic fields: readers try again when a writer came between.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<unsigned> sequence{0};
static std::atomic<int> x{0}, y{0};

static void write(int value) {
    sequence.fetch_add(1);
    x = value;
    y = -value;
    sequence.fetch_add(1);
}

static int read() {
    for (;;) {
        unsigned before = sequence;
        if (before % 2)
            continue;
        int a = x, b = y;
        if (sequence == before) {
            assert(a == -b);
            return a;
        }
    }
}

int main() {
    std::thread writer([] {
        write(1);
        write(2);
    });
    std::thread reader([] {
        int first = read();
        assert(read() >= first);
    });
    assert(read() <= 2);
    writer.join();
    reader.join();
    assert(read() == 2);
}
