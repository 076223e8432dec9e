//@ expect: pass
// The destructor of the derived class waits for the strand that makes virtual calls.
#include <thread>

int total;

struct Base {
    std::thread strand;
    virtual void step() { total += 1; }
    void start() {
        strand = std::thread([this] {
            step();
        });
    }
    virtual ~Base() {
    }
};

struct Middle : Base {
    void step() override { total += 2; }
};

struct Derived : Middle {
    void step() override { total += 3; }
    ~Derived() override { strand.join(); }
};

int main() {
    auto *object = new Derived;
    object->start();
    delete static_cast<Base *>(object);
}
