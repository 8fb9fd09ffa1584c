#include <doctest/doctest.h>
#include <type_traits>

#include <gpunet/core/fixed_string.hpp>

using namespace gpunet;

namespace {

template <FixedString Name>
struct Tagged {
  static constexpr std::string_view name = Name.view();
};

}  // namespace

TEST_CASE("a string as a template argument") {
  CHECK(Tagged<"conv1">::name == "conv1");
  CHECK(Tagged<"">::name.empty());
  static_assert(std::is_same_v<Tagged<"fc">, Tagged<"fc">>);
  static_assert(!std::is_same_v<Tagged<"fc">, Tagged<"fd">>);
  static_assert(!std::is_same_v<Tagged<"fc">, Tagged<"fc1">>);
}
