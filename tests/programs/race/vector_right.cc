//@ expect: pass
// Strands write elements of their own; nobody changes the vector.
#include <thread>
#include <vector>

std::vector<int> values(4);
volatile std::size_t count;

int main() {
    values.reserve(100);
    std::thread strand([] {
        values[0] = 1;
    });
    values[1] = 1;
    count = values.size();
    strand.join();
}
