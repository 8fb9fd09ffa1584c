#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/io/state_dict.hpp>

#include "temp_folder.hpp"

using namespace gpunet;
using io::Dtype;
using io::NamedArray;
using io::SafetensorsFile;
using io::TensorEntry;

namespace {

// A network in small: two arrays behind each other, as in an arena.
template <class T>
struct Network {
  std::vector<T> values = std::vector<T>(8);
  std::vector<NamedArray<T>> arrays{{"fc.weight", {2, 3}, values.data()}, {"fc.bias", {2}, values.data() + 6}};
};

}  // namespace

TEST_CASE_TEMPLATE("arrays that are saved are loaded, bit for bit", T, float, double) {
  TempFolder folder;
  Network<T> saved, loaded;
  saved.values = {T(0.1), -2, 3, 4, 5, T(1e-30), 7, 8};
  saved.arrays[0].data = saved.values.data(), saved.arrays[1].data = saved.values.data() + 6;
  io::save_arrays(saved.arrays, folder / "a", {{"format", "pt"}});
  const SafetensorsFile file = SafetensorsFile::read(folder / "a");
  CHECK(file.entries().at(0).dtype == (sizeof(T) == 4 ? Dtype::F32 : Dtype::F64));
  CHECK(file.metadata().at("format") == "pt");
  io::load_arrays(loaded.arrays, file);
  CHECK(loaded.values == saved.values);

  const std::vector<NamedArray<const T>> read_only{{"fc.weight", {2, 3}, saved.values.data()}};
  io::save_arrays(read_only, folder / "b");
  CHECK(SafetensorsFile::read(folder / "b").entries().size() == 1);
}

TEST_CASE("arrays are loaded from other floating-point types") {
  TempFolder folder;
  const std::vector<std::uint16_t> weight{0x3C00, 0, 0, 0, 0, 0xC000};  // float16: 1, -2
  const std::vector<double> bias{0.25, 1e300};
  const std::vector<TensorEntry> entries{{"fc.weight", Dtype::F16, {2, 3}, std::as_bytes(std::span(weight))},
                                         {"fc.bias", Dtype::F64, {2}, std::as_bytes(std::span(bias))}};
  io::write_safetensors(folder / "a", entries);
  Network<double> network;
  io::load_arrays(network.arrays, SafetensorsFile::read(folder / "a"));
  CHECK(network.values == std::vector<double>{1, 0, 0, 0, 0, -2, 0.25, 1e300});
}

TEST_CASE("match lists everything that does not fit, and nothing is loaded") {
  TempFolder folder;
  const std::vector<float> values(20, 1.0f);
  const auto entry = [&](const std::string& name, const Sizes& sizes) {
    return TensorEntry{name, Dtype::F32, sizes,
                       std::as_bytes(std::span(values.data(), static_cast<std::size_t>(sizes.numel())))};
  };
  const std::vector<TensorEntry> entries{entry("fc.weight", {3, 2}),
                                         entry("head.weight", {5}),
                                         entry("head.bias", {1}),
                                         entry("good", {4}),
                                         {"steps", Dtype::I32, {2}, std::as_bytes(std::span(values.data(), 2))}};
  io::write_safetensors(folder / "a", entries);
  const SafetensorsFile file = SafetensorsFile::read(folder / "a");

  Network<float> network;
  std::vector<float> good(4);
  network.arrays.push_back({"good", {4}, good.data()});
  network.arrays.push_back({"steps", {2}, good.data()});
  network.arrays.push_back({"fc2.bias", {2}, good.data()});
  CHECK(error_of([&] { io::load_arrays(network.arrays, file); }) ==
        "gpunet::io::load: " + (folder / "a") +
            " does not fit this network (nothing was loaded):"
            "\n  missing keys: fc.bias, fc2.bias"
            "\n  unexpected keys: head.bias, head.weight"
            "\n  size mismatch for fc.weight: [3, 2] in the file, [2, 3] in the network"
            "\n  type mismatch for steps: I32 in the file, F64, F32, F16 or BF16 wanted"
            "\nload a file that was saved from this network, or build the network that the file was saved from");
  CHECK(network.values == std::vector<float>(8, 0.0f));
  CHECK(good == std::vector<float>(4, 0.0f));
}

TEST_CASE("match gives the entries in the arrays' order") {
  TempFolder folder;
  Network<float> network;
  io::save_arrays(network.arrays, folder / "a");
  const SafetensorsFile file = SafetensorsFile::read(folder / "a");
  CHECK(file.entries()[0].name == "fc.bias");
  const auto matched = io::match(network.arrays, file);
  REQUIRE(matched.size() == 2);
  CHECK(matched[0]->name == "fc.weight");
  CHECK(matched[1]->name == "fc.bias");
}
