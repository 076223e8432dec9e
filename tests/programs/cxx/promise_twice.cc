//@ expect: crash
//@ message: SIGABRT: uncaught exception std::
//@ preemptions: 1
//@ pair: look set
// Two strands race to answer; the slower one throws promise_already_satisfied.
#include <atomic>
#include <future>
#include <thread>

int main() {
    std::promise<int> answer;
    auto future = answer.get_future();
    std::atomic<bool> answered{false};
    auto reply = [&](int value) {
        if (!answered) { //~ look
            answered = true; //~ set
            answer.set_value(value);
        }
    };
    std::thread a(reply, 1), b(reply, 2);
    future.get();
    a.join();
    b.join();
}
