#include <doctest/doctest.h>

#include <gpunet/tensor/dlpack.hpp>
#include <gpunet/tensors.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

// A tensor of another library; `freed` counts calls of its deleter.
struct Foreign {
  float data[6] = {0, 1, 2, 3, 4, 5};
  std::int64_t shape[2] = {3, 2}, strides[2] = {1, 3};
  int freed = 0;
  dlpack::ManagedTensor managed{
      {data, dlpack::processor, 0, 2, dlpack::floating, 32, 1, shape, strides, 0},
      this,
      [](dlpack::ManagedTensor* self) {
        ++static_cast<Foreign*>(self->manager)->freed;
      }};
};

}  // namespace

TEST_CASE_TEMPLATE("a tensor goes through DLPack and back without a copy", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Tensor<float, D> x(device, {2, 3}, {0, 1, 2, 3, 4, 5});
  const float* const data = x.data();
  dlpack::ManagedTensor* const managed = to_dlpack(std::move(x));
  CHECK(managed->array.rank == 2);
  CHECK(managed->array.device_type == (std::is_same_v<D, Host> ? dlpack::processor : dlpack::gpu));
  const DLPackTensor<float, D> back = from_dlpack<float>(device, managed);
  CHECK(back.data() == data);
  CHECK(back.sizes() == Sizes{2, 3});
  CHECK(Tensor(back + 1).to_vector() == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE_TEMPLATE("a view lends its elements to DLPack", D, GPUNET_TEST_DEVICES) {
  Tensor<index_t, D> x(test_device<D>(), {2, 3}, {0, 1, 2, 3, 4, 5});
  const DLPackTensor<index_t, D> columns =
      from_dlpack<index_t>(test_device<D>(), to_dlpack(transpose(x, 0, 1)));
  CHECK(columns.data() == x.data());
  CHECK(columns.to_vector() == std::vector<index_t>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("memory of another library is written in place and given back once") {
  Host host({.threads = 1});
  Foreign foreign;
  {
    DLPackTensor<float, Host> x = from_dlpack<float>(host, &foreign.managed);
    CHECK(x.to_vector() == std::vector<float>{0, 3, 1, 4, 2, 5});
    x *= 2;
    const DLPackTensor<float, Host> moved = std::move(x);
    CHECK(foreign.freed == 0);
  }
  CHECK(foreign.freed == 1);
  CHECK(foreign.data[5] == 10);
}

TEST_CASE("arrays that do not fit are refused and given back") {
  Host host({.threads = 1});
  const auto refused = [&](auto change) {
    Foreign foreign;
    change(foreign.managed.array);
    const std::string message = error_of([&] { from_dlpack<float>(host, &foreign.managed); });
    CHECK(foreign.freed == 1);
    return message;
  };
  CHECK(refused([](dlpack::Array& array) { array.type_bits = 64; }) ==
        "gpunet::from_dlpack: elements of float64 (want float32), convert them before, or name "
        "their type: "
        "from_dlpack<float>(device, managed)");
  CHECK(contains(refused([](dlpack::Array& array) { array.type_code = dlpack::signed_integer; }),
                 "elements of int32"));
  CHECK(contains(refused([](dlpack::Array& array) { array.type_code = 4, array.type_bits = 16; }),
                 "elements of bfloat16 (want float32)"));
  CHECK(contains(refused([](dlpack::Array& array) { array.type_code = 5, array.type_bits = 64; }),
                 "elements of complex64 (want float32)"));
  CHECK(contains(refused([](dlpack::Array& array) { array.type_code = 10, array.type_bits = 8; }),
                 "elements of type 10 of 8 (want float32)"));
  CHECK(contains(refused([](dlpack::Array& array) { array.type_lanes = 4; }),
                 "elements of 4 numbers each (lanes; want 1), make the lanes a dimension before"));
  CHECK(refused([](dlpack::Array& array) { array.device_type = dlpack::gpu; }) ==
        "gpunet::from_dlpack: memory of device type 2, number 0 (want 1, the processor), move the "
        "tensor before");
  CHECK(contains(refused([](dlpack::Array& array) { array.rank = 9; }),
                 "9 dimensions (want 0 to 8)"));
  CHECK(contains(refused([](dlpack::Array& array) { array.shape[0] = -3; }), "extent -3"));
  dlpack::ManagedTensor* const nothing = nullptr;
  CHECK(contains(error_of([&] { from_dlpack<float>(host, nothing); }), "a null pointer"));
}
