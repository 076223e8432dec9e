#include <map>
#include <memory>
#include <mutex>
#include <vector>

extern "C" void heap(const char *label, const void *block, unsigned long size, const volatile void *part);
#define NO_TAIL_CALL asm volatile("")

namespace bank {

struct Account {
    int id = 0;
    std::mutex lock;
    long balance = 0;

    __attribute__((noinline)) void deposit(long by) {
        balance += by; heap("this", this, sizeof *this, &balance);
        NO_TAIL_CALL;
    }
};

struct Branch {
    std::vector<Account> accounts;
    std::unique_ptr<Account> head;
    std::shared_ptr<Account> shared;
};

__attribute__((noinline)) void work(Branch &branch) {
    heap("vector", branch.accounts.data(), branch.accounts.size() * sizeof(Account), &branch.accounts[2].balance);
    heap("unique", branch.head.get(), sizeof(Account), &branch.head->id);
    // What `make_shared` allocates: two counters and a table of functions are before the value.
    heap("shared", (char *)branch.shared.get() - 16, 16 + sizeof(Account), &branch.shared->balance);
    NO_TAIL_CALL;
}

} // namespace bank

__attribute__((noinline)) void look(std::map<int, bank::Account> &map) {
    auto &node = *map.begin(); // The node of a red-black tree has four words before the value.
    heap("node", (char *)&node - 32, 32 + sizeof node, &node.second.balance);
    NO_TAIL_CALL;
}

int main() {
    bank::Branch branch;
    branch.accounts = std::vector<bank::Account>(3);
    branch.head = std::make_unique<bank::Account>();
    branch.shared = std::make_shared<bank::Account>();
    branch.head->deposit(3);
    bank::work(branch);
    std::map<int, bank::Account> map;
    map[4].id = 1;
    look(map);
    return 0;
}
