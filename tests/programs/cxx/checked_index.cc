//@ expect: crash
//@ message: uncaught exception std::out_of_range: vector
//@ max-runs: 20
//@ bare: any
// The library throws; the place is where the program has called it.
#include <thread>
#include <vector>

static std::vector<int> list;

int main() {
    std::thread strand([] {
        list.at(3) = 1; //~ here
    });
    strand.join();
    return 0;
}
