// An account with a text, a list, a lock and a virtual method, and a class made from it. With an argument it takes its lock everywhere.
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

enum class Kind : unsigned char { Current, Saving };

struct Limit {
    long amount;
};

class Account {
public:
    Account(std::string owner, long balance, bool careful)
        : owner_(std::move(owner)), balance_(balance), careful_(careful), limit_(new Limit{1000}) {
        fees_[1] = 2;
    }
    virtual ~Account() = default;

    virtual void deposit(long amount) {
        std::lock_guard<std::mutex> held(lock_);
        balance_ += amount; //~ deposit
        history_.push_back(amount);
    }

    bool withdraw(long amount) {
        if (careful_) lock_.lock();
        bool enough = balance_ >= amount && amount <= limit_->amount; //~ withdraw
        if (careful_) lock_.unlock();
        if (enough) deposit(-amount - fees_[1]);
        return enough;
    }

protected:
    std::string owner_;
    long balance_;
    bool careful_;
    std::mutex lock_;
    std::vector<long> history_;
    std::map<int, int> fees_;
    std::unique_ptr<Limit> limit_;
};

class Savings : public Account {
public:
    Savings(std::string owner, long balance, bool careful) : Account(std::move(owner), balance, careful) {}
    void deposit(long amount) override {
        if (kind_ == Kind::Saving && rate_ < 1) Account::deposit(amount);
    }

private:
    Kind kind_ = Kind::Saving;
    double rate_ = 0.5;
};

int main(int argc, char **) {
    auto account = std::make_unique<Savings>("Ada Lovelace of London", 100, argc > 1);
    std::thread one([&] { account->deposit(10); });
    std::thread two([&] { account->withdraw(50); });
    one.join();
    two.join();
    std::puts("done");
}
