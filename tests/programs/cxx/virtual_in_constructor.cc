//@ expect: assertion
//@ preemptions: 1
//@ pair: derived here
// The base class starts its strand before the derived class is there: the wrong override is called.
#include <cassert>
#include <thread>

class Service {
    std::thread worker;

  public:
    Service() : worker([this] { assert(priority() == 2); }) {} //~ here
    virtual ~Service() = default;
    virtual int priority() const { return 1; }
    void join() { worker.join(); }
};

class Logger : public Service { //~ derived
  public:
    int priority() const override { return 2; }
};

int main() {
    Logger logger;
    logger.join();
}
