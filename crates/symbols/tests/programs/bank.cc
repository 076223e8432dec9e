#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

extern "C" void mark(const char *label);
extern "C" void show(const char *label, const void *address);

namespace bank {

struct Entity {
    long id;
};

template <typename Money> class Account : public Entity {
  public:
    Money balance{};
    std::mutex lock;
    static Money total;

    __attribute__((noinline)) void deposit(Money amount) {
        static Money largest;
        show("largest", &largest);
        balance += amount;
        total += amount;
        mark("deposit");
        amount++;
        asm volatile("" : : "r"(amount)); // No tail call.
    }
};

template <typename Money> Money Account<Money>::total;

Account<int> accounts[4];
thread_local Entity own[2];

struct Ledger {
    std::array<int, 4> entries;
    std::pair<int, long> last;
    std::atomic<int> version;
    static int opened;
    int open(const std::string &name);
};

int Ledger::opened;

int __attribute__((noinline)) Ledger::open(const std::string &name) {
    static int tries;
    show("tries", &tries);
    auto each = [&](int n) __attribute__((noinline)) {
        mark("lambda");
        tries += n;
    };
    each(int(name.size()));
    return ++tries;
}

} // namespace bank

namespace {
bank::Ledger ledger;
int hidden;
} // namespace

std::vector<int> numbers;
std::string title;

struct Less {
    int key;
    bool __attribute__((noinline)) operator<(const Less &other) const {
        mark("operator");
        return key < other.key;
    }
};

int main() {
    bank::accounts[2].deposit(3);
    ledger.open("a");
    Less one{1}, two{2};
    bool less = one < two;
    show("accounts[2].balance", &bank::accounts[2].balance);
    show("accounts[1].id", &bank::accounts[1].id);
    show("accounts[3].lock", &bank::accounts[3].lock);
    show("total", &bank::Account<int>::total);
    show("opened", &bank::Ledger::opened);
    show("ledger.entries[2]", &ledger.entries[2]);
    show("ledger.last.second", &ledger.last.second);
    show("ledger.version", &ledger.version);
    show("hidden", &hidden);
    bank::own[1].id++;
    show("tls:bank::own[1].id", &bank::own[1].id);
    show("numbers", &numbers);
    show("title", reinterpret_cast<const char *>(&title) + 20);
    mark("main");
    return less && hidden == 0 ? 0 : 1;
}
