//@ expect: deadlock
//@ message: lock cycle of 2 strands
//@ preemptions: 1
//@ pair: table-taken table-wanted
//@ pair: journal-taken journal-wanted
// A shared lock and a plain one in opposite orders: the reader of the one wants the other, whose holder wants to write.
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex table;
static std::mutex journal;
static int rows, lines;

static void look_up() {
    std::shared_lock<std::shared_mutex> read(table); //~ table-taken
    std::lock_guard<std::mutex> note(journal); //~ journal-wanted
    lines += rows;
}

static void insert() {
    std::lock_guard<std::mutex> note(journal); //~ journal-taken
    std::unique_lock<std::shared_mutex> write(table); //~ table-wanted
    rows++;
}

int main() {
    std::thread strand(look_up);
    insert();
    strand.join();
}
