//@ expect: pass
//@ args: 9 Wxr1Ryr Wyr1Rxr
//@ memory-model: sc
// The same as `litmus.c`, in C++.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> cells[3];

static int load(std::atomic<int> &at, char order) {
    switch (order) {
    case 'r': return at.load(std::memory_order_relaxed);
    case 'a': return at.load(std::memory_order_acquire);
    default: return at.load(std::memory_order_seq_cst);
    }
}

static void store(std::atomic<int> &at, int value, char order) {
    switch (order) {
    case 'r': at.store(value, std::memory_order_relaxed); break;
    case 'l': at.store(value, std::memory_order_release); break;
    default: at.store(value, std::memory_order_seq_cst); break;
    }
}

static int add(std::atomic<int> &at, int value, char order) {
    switch (order) {
    case 'r': return at.fetch_add(value, std::memory_order_relaxed);
    case 'a': return at.fetch_add(value, std::memory_order_acquire);
    case 'l': return at.fetch_add(value, std::memory_order_release);
    case 'q': return at.fetch_add(value, std::memory_order_acq_rel);
    default: return at.fetch_add(value, std::memory_order_seq_cst);
    }
}

static void fence(char order) {
    switch (order) {
    case 'a': std::atomic_thread_fence(std::memory_order_acquire); break;
    case 'l': std::atomic_thread_fence(std::memory_order_release); break;
    case 'q': std::atomic_thread_fence(std::memory_order_acq_rel); break;
    default: std::atomic_thread_fence(std::memory_order_seq_cst); break;
    }
}

static void strand(const char *at, std::string &found) {
    while (*at) {
        switch (*at) {
        case 'W': store(cells[at[1] - 'x'], at[3] - '0', at[2]); at += 4; break;
        case 'R': found += static_cast<char>('0' + load(cells[at[1] - 'x'], at[2])); at += 3; break;
        case 'A': found += static_cast<char>('0' + add(cells[at[1] - 'x'], at[3] - '0', at[2])); at += 4; break;
        case 'F': fence(at[1]); at += 2; break;
        default: std::exit(2);
        }
    }
}

int main(int argc, char **argv) {
    std::vector<std::string> found(static_cast<size_t>(argc));
    std::vector<std::thread> threads;
    for (int at = 2; at < argc; at++) threads.emplace_back(strand, argv[at], std::ref(found[static_cast<size_t>(at)]));
    for (auto &thread : threads) thread.join();
    std::string outcome;
    for (auto &part : found) outcome += part;
    outcome += ':';
    for (auto &cell : cells) outcome += static_cast<char>('0' + cell.load());
    std::string wanted = argv[1];
    for (size_t at = 0; at < wanted.size(); at++)
        if (wanted[at] != '.' && wanted[at] != outcome[at]) return 0;
    std::fprintf(stderr, "outcome %s\n", outcome.c_str());
    std::abort();
}
