//@ expect: race
//@ race: grow size
// A vector grows while another strand asks for its size.
#include <thread>
#include <vector>

std::vector<int> values(4);
volatile std::size_t count;

int main() {
    values.reserve(100);
    std::thread strand([] {
        values.push_back(1); //~ grow
    });
    count = values.size(); //~ size
    strand.join();
}
