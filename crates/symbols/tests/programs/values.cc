#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" void stop(const char *label);

namespace geometry {
struct Shape {
    int id = 3;
    virtual ~Shape() = default;
};
struct Point : Shape {
    double x = 1.5, y = 2.5;
};
enum class Kind { Round, Square };
} // namespace geometry

__attribute__((noinline)) static unsigned long work(const std::string &name, std::string_view view) {
    std::vector<int> numbers{1, 2, 3};
    std::vector<geometry::Point> points(1);
    std::string longer(100, 'y');
    auto owned = std::make_unique<int>(9);
    std::pair<int, bool> pair{4, true};
    std::atomic<int> hits{6};
    std::array<short, 3> array{7, 8, 9};
    geometry::Point point;
    geometry::Kind kind = geometry::Kind::Square;
    stop("work");
    return name.size() + view.size() + numbers.size() + points.size() + longer.size() + *owned + pair.first +
           hits + array[0] + point.id + static_cast<int>(kind);
}

int main() {
    std::string name = "short";
    return work(name, "a view") == 0;
}
