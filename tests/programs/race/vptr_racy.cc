//@ expect: race
//@ race: call base
//@ may-race: call middle
//@ may-race: call derived
// The destructor of the base waits for a strand that still makes virtual calls.
#include <thread>

int total;

struct Base {
    std::thread strand;
    virtual void step() { total += 1; }
    void start() {
        strand = std::thread([this] {
            step(); //~ call
        });
    }
    virtual ~Base() { //~ base
        strand.join();
    }
};

struct Middle : Base { //~ middle
    void step() override { total += 2; }
};

struct Derived : Middle { //~ derived
    void step() override { total += 3; }
};

int main() {
    auto *object = new Derived;
    object->start();
    delete static_cast<Base *>(object);
}
