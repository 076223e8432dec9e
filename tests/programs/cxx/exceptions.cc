//@ expect: pass
// Exceptions cross a join as exception_ptr, are rethrown in two strands, nested, and unwind through locks.
#include <cassert>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

static std::mutex lock;

static void fail(int depth) {
    std::lock_guard guard(lock);
    std::string heavy(100, 'x');
    if (depth == 0)
        throw std::invalid_argument("deep " + heavy.substr(0, 2));
    throw std::runtime_error("shallow");
}

int main() {
    std::exception_ptr errors[2];
    std::thread strands[2];
    for (int i = 0; i < 2; i++)
        strands[i] = std::thread([&errors, i] {
            try {
                try {
                    fail(i);
                } catch (const std::invalid_argument &) {
                    std::throw_with_nested(std::logic_error("outer"));
                }
            } catch (...) {
                errors[i] = std::current_exception();
            }
        });
    for (auto &strand : strands)
        strand.join();
    assert(lock.try_lock());
    lock.unlock();

    auto check = [&errors] {
        int seen = 0;
        try {
            std::rethrow_exception(errors[0]);
        } catch (const std::logic_error &outer) {
            seen++;
            try {
                std::rethrow_if_nested(outer);
            } catch (const std::invalid_argument &inner) {
                assert(std::string(inner.what()) == "deep xx");
                seen++;
            }
        }
        try {
            std::rethrow_exception(errors[1]);
        } catch (const std::runtime_error &error) {
            seen++;
        }
        assert(seen == 3);
    };
    std::thread other(check);
    check();
    other.join();
    assert(std::uncaught_exceptions() == 0);
}
