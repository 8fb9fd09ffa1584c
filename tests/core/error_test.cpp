#include <doctest/doctest.h>
#include <limits>
#include <string>

#include <gpunet/core/error.hpp>

using namespace gpunet;

namespace {

std::string message_of_assertion([[maybe_unused]] bool condition) {
  try {
    GPUNET_ASSERT(condition && "two and two");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("concat writes texts, characters, truths and numbers one after another") {
  CHECK(concat("a", 'b', std::string("c"), std::string_view("d")) == "abcd");
  CHECK(concat(-7, " ", 7u, " ", index_t{1} << 40, " ", true, " ", false) ==
        "-7 7 1099511627776 true false");
  CHECK(concat() == "");
}

TEST_CASE("concat writes the shortest number that reads back the same") {
  CHECK(concat(0.1) == "0.1");
  CHECK(concat(0.1f) == "0.1");
  CHECK(concat(1.0 / 3.0) == "0.3333333333333333");
  CHECK(concat(-0.0, " ", 1e300, " ", 2.5f) == "-0 1e+300 2.5");
  CHECK(concat(std::numeric_limits<float>::infinity(), " ",
               std::numeric_limits<double>::quiet_NaN()) == "inf nan");
  CHECK(concat(std::numeric_limits<index_t>::min()) == "-9223372036854775808");
}

TEST_CASE("require throws its parts as one message, and only when the condition does not hold") {
  CHECK_NOTHROW(require(true, "never ", 1));
  CHECK_THROWS_WITH_AS(require(false, "gpunet::test: ", 3, " of ", 2.5), "gpunet::test: 3 of 2.5",
                       Error);
  CHECK_THROWS_AS(require(false, ""), std::runtime_error);
  static_assert((require(true, "at compile time"), true));
}

TEST_CASE("an assertion names its place and its condition, in builds that have assertions") {
  CHECK(message_of_assertion(true) == "");
  const std::string message = message_of_assertion(false);
#if GPUNET_ASSERTIONS
  CHECK(message.find("error_test.cpp:") != message.npos);
  CHECK(message.find(": broken invariant: condition && \"two and two\"") != message.npos);
#else
  CHECK(message == "");
#endif
}
