// The same with an exchange: whoever comes second deletes its own. The table itself is never deleted, and a variable leads to it.
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
        Table *made = new Table{"the table of all tables, which is long", std::make_unique<int[]>(64)};
        if (table.compare_exchange_strong(found, made))
            return made;
        delete made;
    }
    return found;
}

int main() {
    std::thread one([] { get()->rows[0] = 1; });
    std::thread two([] { get()->rows[1] = 2; });
    one.join();
    two.join();
}
