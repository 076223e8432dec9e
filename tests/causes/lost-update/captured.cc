// What strands share is a variable of main's that closures capture by reference.
//@ expect: assertion
//@ pair: read write
//@ pattern: lost-update
//@ object: account.balance
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

struct Account {
    long id;
    long balance;
};

int main() {
    Account account{7, 100};
    std::mutex mutex;
    long rounds = 0;
    auto deposit = [&](long amount) {
        long seen;
        {
            std::lock_guard<std::mutex> guard(mutex);
            seen = account.balance; //~ read
            rounds++;
        }
        std::lock_guard<std::mutex> guard(mutex);
        account.balance = seen + amount; //~ write
    };
    std::vector<std::thread> strands;
    for (long amount : {10, 20})
        strands.emplace_back(deposit, amount);
    for (auto &strand : strands)
        strand.join();
    assert(account.balance == 130 && rounds == 2);
    return 0;
}
