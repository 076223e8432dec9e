// Whoever comes second replaces what the first one has put there, with a plain pointer that owns nothing.
#include <atomic>
#include <memory>
#include <string>
#include <thread>

struct Table {
    std::string name;
    std::unique_ptr<int[]> rows;
};

static std::atomic<Table *> table{nullptr};

static Table *get() {
    Table *found = table.load();
    if (!found) {
        found = new Table{"the table of all tables, which is long", std::make_unique<int[]>(64)}; //~ here
        table.store(found);
    }
    return found;
}

int main() {
    std::thread one([] { get()->rows[0] = 1; });
    std::thread two([] { get()->rows[1] = 2; });
    one.join();
    two.join();
    delete table.exchange(nullptr);
}
