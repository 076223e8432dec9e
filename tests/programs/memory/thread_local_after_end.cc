//@ expect: stack-use-after-end
//@ message: thread-local storage of strand 0.1
// Main reads a thread-local variable of a strand it has joined.
#include <thread>

static thread_local int mine = 1;

int main() {
    int *theirs = nullptr;
    std::thread other([&] {
        mine = 2;
        theirs = &mine;
    });
    other.join();
    return *theirs == 3; //~ here
}
