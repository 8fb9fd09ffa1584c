#include <doctest/doctest.h>
#include <string>
#include <type_traits>
#include <utility>

#include <gpunet/core/tracked_pointer.hpp>

#include "support/errors.hpp"

using namespace gpunet;

namespace {

struct Box : Trackable<Box> {
  static constexpr const char* type_name = "Box";
  int value;
  explicit Box(int v) : value(v) {}
};

const std::string gone =
    "gpunet::Box: the object is gone (destroyed, or another one was assigned to it), but something "
    "made for it is "
    "still used, keep the object as long, or make that anew";

}  // namespace

TEST_CASE("a TrackedPointer follows an object from place to place, and refuses when it is gone") {
  auto first = std::make_unique<Box>(3);
  const TrackedPointer<Box> pointer(*first);
  const TrackedPointer<const Box> reader(std::as_const(*first));
  CHECK(&*pointer == first.get());
  auto second = std::make_unique<Box>(std::move(*first));
  CHECK(&*pointer == second.get());
  first.reset();  // one that was moved from
  CHECK(pointer->value == 3);
  second->value = 4;
  CHECK(reader->value == 4);
  static_assert(std::is_same_v<decltype(*reader), const Box&>);
  const auto copy = pointer;
  second.reset();
  CHECK(error_of([&] { pointer->value = 5; }) == gone);
  CHECK(error_of([&] { *reader; }) == gone);
  CHECK(error_of([&] { *copy; }) == gone);
}

TEST_CASE("a Trackable that was moved from has no pointers") {
  Box first(1);
  const Box second(std::move(first));
  CHECK(error_of([&] { TrackedPointer<Box> pointer(first); }) ==
        "gpunet::Box: this object was moved from (its contents are gone), use the one that it was "
        "moved to");
  CHECK(TrackedPointer<const Box>(second)->value == 1);
}
