// An update in two helpers that each take the lock, of memory that has no name.
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>

struct account {
    long balance = 0;
};

static std::map<std::string, account> book;
static std::mutex lock;

static long balance(const std::string &who) {
    std::lock_guard<std::mutex> guard(lock);
    return book[who].balance;
}

static void set(const std::string &who, long to) {
    std::lock_guard<std::mutex> guard(lock);
    book[who].balance = to;
}

static void deposit(const std::string &who, long amount) {
    long now = balance(who); //~ first
    set(who, now + amount); //~ last
}

int main() {
    book["ann"];
    std::thread one(deposit, "ann", 10), two(deposit, "ann", 20);
    one.join();
    two.join();
    assert(book["ann"].balance == 30);
}
