//@ expect: use-after-free|double-free
// The owner deletes what the guest still uses.
#include <thread>
#include <vector>

int main() {
    auto *list = new std::vector<int>{1, 2, 3};
    auto use = [](std::vector<int> *list, bool owner) {
        if (owner)
            delete list;
        else if (list->size() == 3)
            list->push_back(4);
    };
    std::thread owner(use, list, true), guest(use, list, false);
    owner.join();
    guest.join();
}
