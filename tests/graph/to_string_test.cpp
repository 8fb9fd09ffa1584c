#include <doctest/doctest.h>
#include <sstream>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>

using namespace gpunet;

namespace {

struct Swish {
  constexpr auto output(auto in) const { return in; }
};

template <class T, int... Ns>
struct Generic : Swish {
  template <class U>
  struct Inner : Swish {};
  std::string extra_repr(const Sizes& in, const Sizes&) const { return to_string(in); }
};

struct MyLinear : nn::Linear<2> {};

}  // namespace

TEST_CASE("numbers as Python prints them") {
  for (const auto& [value, text] :
       std::vector<std::pair<double, std::string>>{{0, "0.0"},
                                                   {1, "1.0"},
                                                   {-2.5, "-2.5"},
                                                   {0.1, "0.1"},
                                                   {1e-5, "1e-05"},
                                                   {0.0001, "0.0001"},
                                                   {0.00012, "0.00012"},
                                                   {0.000099, "9.9e-05"},
                                                   {123456789, "123456789.0"},
                                                   {1e15, "1000000000000000.0"},
                                                   {1e16, "1e+16"},
                                                   {0.30000000000000004, "0.30000000000000004"},
                                                   {1e-120, "1e-120"}})
    CHECK(detail::python_repr(value) == text);
}

TEST_CASE(
    "a layer is called by its type, without namespaces, template arguments, and the name that "
    "Named gave it") {
  CHECK(nn::class_name<nn::ReLU>() == "ReLU");
  CHECK(nn::class_name<nn::Conv2d<6, 5, nn::Stride<2>>>() == "Conv2d");
  CHECK(nn::class_name<nn::Named<"x", nn::BatchNorm1d>>() == "BatchNorm1d");
  CHECK(nn::class_name<nn::Named<"x", nn::Named<"y > 0]", nn::MaxPool2d<2>>>>() == "MaxPool2d");
  CHECK(nn::class_name<Swish>() == "Swish");
  CHECK(nn::class_name<Generic<std::vector<std::string>, 1, 2>>() == "Generic");
  CHECK(nn::class_name<Generic<int>::Inner<Generic<double>>>() == "Inner");
  CHECK(nn::class_name<nn::Named<"x", MyLinear>>() == "MyLinear");
  struct Local2 : Swish {};
  CHECK(nn::class_name<Local2>() == "Local2");
  struct StereoOp : Swish {};
  CHECK(nn::class_name<StereoOp>() == "StereoOp");
  CHECK(nn::class_name<AddOp>() == "Add");
}

TEST_CASE("a layer that says nothing of itself is printed by its name") {
  const nn::Sequential<nn::Input<3>, Swish, nn::Named<"general", Generic<int, 1>>, MyLinear> net;
  std::ostringstream out;
  out << net;
  CHECK(out.str() == R"(Sequential(
  (0): Swish()
  (general): Generic([3])
  (2): MyLinear(in_features=3, out_features=2, bias=True)
))");
}
