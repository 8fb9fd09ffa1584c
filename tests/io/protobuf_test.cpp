#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gpunet/io/protobuf.hpp>

#include "support/errors.hpp"

using namespace gpunet;
using io::detail::ProtoMessage;
using io::detail::ProtoReader;

namespace {

ProtoReader reader_of(const std::string& bytes) {
  return {std::as_bytes(std::span(bytes)), "file", "Message"};
}

// What reading the first field says.
template <class Read>
std::string error_of_first(const std::string& bytes, Read read) {
  return error_of([&] {
    ProtoReader reader = reader_of(bytes);
    reader.next();
    read(reader);
  });
}

const auto skip = [](ProtoReader& reader) {
  reader.skip();
};

}  // namespace

TEST_CASE("fields are read as they were written") {
  constexpr std::uint64_t large = std::numeric_limits<std::uint64_t>::max();
  const std::vector<index_t> list{0, -1, 300, std::numeric_limits<index_t>::min()};
  const std::string bytes = ProtoMessage()
                                .integer(1, 0)
                                .integer(2, large)
                                .number(3, 1.5f)
                                .number(4, -2.25)
                                .bytes(5, "text")
                                .message(6, ProtoMessage().integer(7, 300))
                                .integers(8, list)
                                .integer(8, 5)
                                .numbers(1 << 27, {0.5, 4})
                                .bytes();
  ProtoReader reader = reader_of(bytes);
  const auto next = [&](int field) {
    return reader.next() && reader.field() == field;
  };
  REQUIRE(next(1));
  CHECK(reader.integer() == 0);
  REQUIRE(next(2));
  CHECK(reader.integer() == large);
  REQUIRE(next(3));
  CHECK(reader.number() == 1.5f);
  REQUIRE(next(4));
  reader.numbers<double>([](double value) { CHECK(value == -2.25); });
  REQUIRE(next(5));
  CHECK(reader.text() == "text");
  REQUIRE(next(6));
  ProtoReader inner = reader.message("Inner");
  REQUIRE(inner.next());
  CHECK(inner.field() == 7);
  CHECK(inner.integer() == 300);
  CHECK_FALSE(inner.next());
  std::vector<index_t> values;
  for (int i = 0; i < 2; ++i) {
    REQUIRE(next(8));
    reader.integers([&](std::uint64_t value) { values.push_back(static_cast<index_t>(value)); });
  }
  CHECK(values == std::vector<index_t>{0, -1, 300, std::numeric_limits<index_t>::min(), 5});
  REQUIRE(next(1 << 27));
  std::vector<double> numbers;
  reader.numbers<double>([&](double value) { numbers.push_back(value); });
  CHECK(numbers == std::vector<double>{0.5, 4});
  CHECK_FALSE(reader.next());
}

TEST_CASE("unknown fields are skipped") {
  const std::string bytes = ProtoMessage()
                                .integer(1, 1)
                                .number(2, 1.0)
                                .number(3, 1.0f)
                                .bytes(4, "text")
                                .integer(5, 7)
                                .bytes();
  ProtoReader reader = reader_of(bytes);
  for (int i = 0; i < 4; ++i) {
    REQUIRE(reader.next());
    reader.skip();
  }
  REQUIRE(reader.next());
  CHECK(reader.integer() == 7);
}

TEST_CASE("errors name the file, the message, the field and the byte") {
  CHECK(error_of_first("\x2A\x7Fxyz", skip) ==
        "file, byte 2: Message, field 5: a length of 127 bytes where 3 are left (it is damaged, or "
        "no file of this kind), fetch or save it again");
  CHECK(contains(error_of_first("\x08\x80\x80", skip),
                 "file, byte 3: Message, field 1: an integer without an end"));
  CHECK(contains(error_of_first("\x08" + std::string(10, '\xFF') + "\1", skip),
                 "an integer of more than 64 bits"));
  CHECK(contains(error_of_first(std::string("\0\1", 2), skip), "Message: the key 0 of a field"));
  CHECK(contains(error_of_first("\x0D\1\2", skip), "a number of 4 bytes where 2 are left"));
  CHECK(contains(error_of_first("\x0B\1", skip), "wire type 3 (want 0, 1, 2 or 5)"));
  CHECK(contains(error_of_first("\x08\1", [](ProtoReader& reader) { reader.text(); }),
                 "wire type 0 (want 2, a text or message)"));
  CHECK(contains(error_of_first("\x0A\3\x08\1\x80",
                                [](ProtoReader& reader) {
                                  ProtoReader inner = reader.message("Inner");
                                  inner.next();
                                  inner.integer();
                                  inner.next();
                                }),
                 "byte 5: Inner: an integer without an end"));
  CHECK(contains(error_of_first("\x0A\3\1\2\3",
                                [](ProtoReader& reader) { reader.numbers<float>([](float) {}); }),
                 "field 1: a number of 4 bytes where 3 are left"));
}
