#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/io/formats.hpp>
#include <gpunet/io/state_dict.hpp>

#include "temp_folder.hpp"
#include "test_config.hpp"

using namespace gpunet;
using io::Dtype;
using io::NamedArray;
using io::SafetensorsFile;
using io::TensorEntry;

namespace {

// A network in small: two arrays behind each other, as in an arena.
template <class T>
struct SavedNetwork {
  std::vector<T> values = std::vector<T>(8);
  std::vector<NamedArray<T>> arrays{{"fc.weight", {2, 3}, values.data()},
                                    {"fc.bias", {2}, values.data() + 6}};
};

}  // namespace

TEST_CASE_TEMPLATE("arrays that are saved are loaded, bit for bit", T, float, double) {
  TempFolder folder;
  SavedNetwork<T> saved, loaded;
  saved.values = {T(0.1), -2, 3, 4, 5, T(1e-30), 7, 8};
  saved.arrays[0].data = saved.values.data(), saved.arrays[1].data = saved.values.data() + 6;
  io::save_arrays(saved.arrays, folder / "a.safetensors", {{"format", "pt"}});
  const SafetensorsFile file = SafetensorsFile::read(folder / "a.safetensors");
  CHECK(file.entries().at(0).dtype == (sizeof(T) == 4 ? Dtype::F32 : Dtype::F64));
  CHECK(file.metadata().at("format") == "pt");
  io::load_arrays(loaded.arrays, file);
  CHECK(loaded.values == saved.values);

  const std::vector<NamedArray<const T>> read_only{{"fc.weight", {2, 3}, saved.values.data()}};
  io::save_arrays(read_only, folder / "b.safetensors");
  const SafetensorsFile one = SafetensorsFile::read(folder / "b.safetensors");
  CHECK(one.entries().size() == 1);
}

TEST_CASE("arrays are loaded from other floating-point types") {
  TempFolder folder;
  const std::vector<std::uint16_t> weight{0x3C00, 0, 0, 0, 0, 0xC000};  // float16: 1, -2
  const std::vector<double> bias{0.25, 1e300};
  const std::vector<TensorEntry> entries{
      {"fc.weight", Dtype::F16, {2, 3}, std::as_bytes(std::span(weight))},
      {"fc.bias", Dtype::F64, {2}, std::as_bytes(std::span(bias))}};
  io::write_safetensors(folder / "a", entries);
  SavedNetwork<double> network;
  io::load_arrays(network.arrays, SafetensorsFile::read(folder / "a"));
  CHECK(network.values == std::vector<double>{1, 0, 0, 0, 0, -2, 0.25, 1e300});
}

TEST_CASE("match lists everything that does not fit, and nothing is loaded") {
  TempFolder folder;
  const std::vector<float> values(20, 1.0f);
  const auto entry = [&](const std::string& name, const Sizes& sizes) {
    return TensorEntry{
        name, Dtype::F32, sizes,
        std::as_bytes(std::span(values.data(), static_cast<std::size_t>(sizes.numel())))};
  };
  const std::vector<TensorEntry> entries{
      entry("fc.weight", {3, 2}),
      entry("head.weight", {5}),
      entry("head.bias", {1}),
      entry("good", {4}),
      {"steps", Dtype::C64, {2}, std::as_bytes(std::span(values.data(), 4))}};
  io::write_safetensors(folder / "a", entries);
  const SafetensorsFile file = SafetensorsFile::read(folder / "a");

  SavedNetwork<float> network;
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
            "\n  type mismatch for steps: C64 in the file, real numbers of at least a byte wanted"
            "\nload a file that was saved from this network, or build the network that the file "
            "was saved from");
  CHECK(network.values == std::vector<float>(8, 0.0f));
  CHECK(good == std::vector<float>(4, 0.0f));
}

TEST_CASE("lists in a message end after ten, with a count") {
  const TempFolder folder;
  const std::vector<float> values(100);
  std::vector<TensorEntry> entries;
  std::vector<NamedArray<float>> wanted, wider;
  std::vector<float> out(200);
  for (int i = 0; i < 23; ++i) {
    const std::string number = std::to_string(100 + i);
    entries.push_back({"in" + number, Dtype::F32, {2}, std::as_bytes(std::span(values.data(), 2))});
    wanted.push_back({"net" + number, {3}, out.data()});
    wider.push_back({"in" + number, {3}, out.data()});
  }
  io::write_safetensors(folder / "a", entries);
  const SafetensorsFile file = SafetensorsFile::read(folder / "a");
  const std::string error = error_of([&] { io::load_arrays(wanted, file); });
  CHECK(contains(error,
                 "\n  missing keys: net100, net101, net102, net103, net104, net105, net106, "
                 "net107, net108, net109 "
                 "and 13 more\n  unexpected keys: in100, in101, in102, in103, in104, in105, in106, "
                 "in107, in108, "
                 "in109 and 13 more\n"));
  const std::string sizes = error_of([&] { io::load_arrays(wider, file); });
  CHECK(contains(
      sizes, "\n  size mismatch for in109: [2] in the file, [3] in the network\n  and 13 more\n"));
  CHECK(!contains(sizes, "in110"));
  CHECK(contains(error_of([&] { io::load_arrays(wider, file, {.key = "net"}); }),
                 "(available: in100, in101, in102, in103, in104, in105, in106, in107, in108, in109 "
                 "and 13 more), give "
                 "one of these"));
}

TEST_CASE("an entry is for one array") {
  TempFolder folder;
  SavedNetwork<float> network;
  io::save_arrays(network.arrays, folder / "a.safetensors");
  network.arrays.push_back(network.arrays[1]);
  CHECK(contains(error_of([&] {
                   io::load_arrays(network.arrays, SafetensorsFile::read(folder / "a.safetensors"));
                 }),
                 "missing keys: fc.bias"));
}

TEST_CASE("match gives the entries in the arrays' order") {
  TempFolder folder;
  SavedNetwork<float> network;
  io::save_arrays(network.arrays, folder / "a.safetensors");
  const SafetensorsFile file = SafetensorsFile::read(folder / "a.safetensors");
  CHECK(file.entries()[0].name == "fc.bias");
  const auto [matched, keys] = io::match(network.arrays, file);
  CHECK((keys.missing_keys.empty() && keys.unexpected_keys.empty()));
  REQUIRE(matched.size() == 2);
  CHECK(matched[0]->name == "fc.weight");
  CHECK(matched[1]->name == "fc.bias");
}

namespace {

// A file of PyTorch at `path` with float arrays of these names and shapes, filled with 1, 2, 3, ...
// throughout.
void write_file(const std::string& path, const std::vector<std::pair<std::string, Sizes>>& arrays) {
  std::vector<float> values;
  for (int i = 1; i <= 100; ++i)
    values.push_back(static_cast<float>(i));
  std::vector<TensorEntry> entries;
  std::size_t next = 0;
  for (const auto& [name, sizes] : arrays) {
    const auto n = static_cast<std::size_t>(sizes.numel());
    entries.push_back({name, Dtype::F32, sizes, std::as_bytes(std::span(values).subspan(next, n))});
    next += n;
  }
  io::write_tensors(path, entries);
}

const std::vector<float> one_to_eight{1, 2, 3, 4, 5, 6, 7, 8};

std::vector<float> loaded(const std::string& path, const io::LoadOptions& options) {
  SavedNetwork<float> network;
  io::load_arrays(network.arrays, io::read_tensors(path), options);
  return network.values;
}

}  // namespace

TEST_CASE("a state_dict inside a checkpoint, with a prefix, under other names, by places") {
  const TempFolder folder;
  const std::string path = folder / "a.pth";
  write_file(path,
             {{"epoch.x", {1}}, {"model.module.fc.weight", {2, 3}}, {"model.module.fc.bias", {2}}});
  const std::vector<float> second{2, 3, 4, 5, 6, 7, 8, 9};
  CHECK(loaded(path, {.key = "model", .prefix = "module."}) == second);
  CHECK(loaded(path, {.key = "model.module"}) == second);
  const auto rename = [](std::string_view name) {
    return name == "lin.w" ? std::string("fc.weight") : std::string("fc.bias");
  };
  write_file(path, {{"lin.w", {2, 3}}, {"lin.b", {2}}});
  CHECK(loaded(path, {.rename = rename}) == one_to_eight);
  CHECK(loaded(path, {.match = io::by_order}) == one_to_eight);
  const std::string error = error_of([&] { loaded(folder / "a.pth", {.key = "net"}); });
  CHECK(error == "gpunet::io::load: " + path +
                     " has no tensors under the key \"net\" (available: lin), give one of these");
}

TEST_CASE("a prefix that no name has is an error, with the names that there are") {
  const TempFolder folder;
  const std::string path = folder / "a.pth";
  write_file(path, {{"model.module.fc.weight", {2, 3}}, {"model.module.fc.bias", {2}}, {"x", {1}}});
  const std::string begin =
      "gpunet::io::load: no name in " + path + " begins with the prefix \"modul.\" (available: ";
  for (const bool strict : {true, false}) {
    CHECK(error_of([&] { loaded(path, {.prefix = "modul.", .strict = strict}); }) ==
          begin +
              "model.module.fc.weight, model.module.fc.bias, x), give the one that these have, or "
              "none");
    CHECK(error_of([&] { loaded(path, {.key = "model", .prefix = "modul.", .strict = strict}); }) ==
          begin + "module.fc.weight, module.fc.bias), give the one that these have, or none");
  }
}

TEST_CASE("rename takes a name as a string, too") {
  const TempFolder folder;
  write_file(folder / "a.pth", {{"lin.weight", {2, 3}}, {"lin.bias", {2}}});
  const auto rename = [](const std::string& name) {
    return "fc" + name.substr(3);
  };
  CHECK(loaded(folder / "a.pth", {.rename = rename}) == one_to_eight);
}

TEST_CASE("the error says under which key the names are") {
  const TempFolder folder;
  write_file(folder / "a.pth",
             {{"model_state_dict.fc.weight", {2, 3}}, {"model_state_dict.fc.bias", {2}}});
  CHECK(
      contains(error_of([&] { loaded(folder / "a.pth", {}); }),
               "\nload with {.key = \"model_state_dict\"}, under which the file has these names"));
  // The whole key, whatever key was given; none where not all names are under it.
  write_file(folder / "a.pth",
             {{"net.module.fc.weight", {2, 3}}, {"net.module.fc.bias", {2}}, {"x.fc.weight", {6}}});
  for (const io::LoadOptions& options :
       {io::LoadOptions{}, {.key = "net"}, {.key = "x"}, {.prefix = "net."}})
    CHECK(contains(error_of([&] { loaded(folder / "a.pth", options); }),
                   "\nload with {.key = \"net.module\"}, "));
  write_file(folder / "a.pth", {{"a.fc.weight", {2, 3}}, {"b.fc.bias", {2}}, {"c", {1}}});
  CHECK(contains(error_of([&] { loaded(folder / "a.pth", {}); }),
                 "\nload a file that was saved from this network"));
}

TEST_CASE("the error says when places would do, and what to do with an array that has no name") {
  const TempFolder folder;
  write_file(folder / "a.pth", {{"w", {2, 3}}, {"b", {2}}});
  const std::string by_order =
      "\nload with {.match = io::by_order}, since all shapes fit in their order";
  CHECK(contains(error_of([&] { loaded(folder / "a.pth", {}); }), by_order));
  // Whose order is that of the names.
  write_file(folder / "a.safetensors", {{"a", {2, 3}}, {"b", {2}}});
  CHECK(!contains(error_of([&] { loaded(folder / "a.safetensors", {}); }), by_order));
  write_file(folder / "a.npy", {{"", {2, 3}}});
  CHECK(
      contains(error_of([&] { loaded(folder / "a.npy", {}); }),
               "\n  missing keys: fc.weight, fc.bias\n  unexpected keys: (an array without a name)"
               "\ngive the array a name, {.rename = [](std::string_view) { return "
               "std::string(\"fc.weight\"); }}, and "
               "leave out the others with .strict = false"));
  const auto rename = [](std::string_view) {
    return std::string("fc.weight");
  };
  CHECK(loaded(folder / "a.npy", {.rename = rename, .strict = false}) ==
        std::vector<float>{1, 2, 3, 4, 5, 6, 0, 0});
}

TEST_CASE("what cannot be read counts only where it is wanted") {
  const io::TensorFile file = io::read_tensors(std::string(GPUNET_TEST_CORPUS) + "/mixed.npz");
  std::vector<float> values(6);
  const auto load = [&](const std::string& name, const io::LoadOptions& options = {}) {
    io::load_arrays<float>({{name, {2, 3}, values.data()}}, file, options);
  };
  load("w");
  CHECK(values == std::vector<float>{0, 1, 2, 3, 4, 5});
  const std::string error = error_of([&] { load("names"); });
  CHECK(contains(error, "\n  unexpected keys: w\n  unreadable names: gpunet::io: "));
  CHECK(contains(error, "names.npy, byte "));
  CHECK(contains(error_of([&] { load("v"); }),
                 "\n  missing keys: v\n  unexpected keys: w\n  unreadable in the file: names: "));
  CHECK(contains(error_of([&] { load("w", {.match = io::by_order}); }),
                 "\n  unreadable w: gpunet::io: "));
  CHECK(contains(
      error,
      "\nfollow the advice in these lines, or load a file that was saved from this network"));
}

TEST_CASE("an opaque object counts only where it is wanted") {
  const io::TensorFile file = io::read_tensors(std::string(GPUNET_TEST_CORPUS) + "/opaque.pth");
  std::vector<float> weight(6), bias(2), scale(2);
  std::vector<NamedArray<float>> arrays{{"weight", {2, 3}, weight.data()},
                                        {"bias", {2}, bias.data()}};
  CHECK(io::load_arrays(arrays, file, {.strict = false}).unexpected_keys ==
        std::vector<std::string>{"settings.scale"});
  CHECK(weight == std::vector<float>{0, 1, 2, 3, 4, 5});
  arrays.insert(arrays.begin(), {"settings.scale", {2}, scale.data()});
  io::load_arrays(arrays, file);
  CHECK(scale == std::vector<float>{0, 1});
  scale = {5, 5};
  arrays[0].name = "x";  // an opaque object has no place
  io::load_arrays(arrays, file, {.match = io::by_order});
  CHECK(scale == std::vector<float>{0, 1});
  CHECK(contains(error_of([&] { io::load_arrays(arrays, file); }),
                 "load with {.match = io::by_order}"));

  arrays[0].name = "best_acc";
  CHECK(contains(error_of([&] { io::load_arrays(arrays, file, {.strict = false}); }),
                 "\n  unreadable best_acc: gpunet::io: "));
  CHECK(contains(error_of([&] { io::load_arrays(arrays, file, {.key = "net"}); }),
                 "gpunet::io::load: the key \"net\" could not be read: gpunet::io: "));
}

TEST_CASE("by places, numbers and shapes have to fit, and the file has to have an order") {
  const TempFolder folder;
  const auto error = [&](const std::string& name,
                         const std::vector<std::pair<std::string, Sizes>>& arrays) {
    write_file(folder / name, arrays);
    return error_of([&] { loaded(folder / name, {.match = io::by_order}); });
  };
  CHECK(contains(error("a.pth", {{"b", {2}}, {"w", {2, 3}}}),
                 "\n  size mismatch for fc.weight: [2] in the file (b), [2, 3] in the network"
                 "\n  size mismatch for fc.bias: [2, 3] in the file (w), [2] in the network"));
  CHECK(contains(error("a.pth", {{"w", {2, 3}}}), "\n  missing keys: fc.bias"));
  CHECK(contains(error("a.pth", {{"w", {2, 3}}, {"b", {2}}, {"c", {2}}}),
                 "\n  unexpected keys: c\nleave the unexpected ones out with {.strict = false}, or "
                 "load a file"));
  CHECK(contains(error("a.pth", {}), "\nthe file has no tensors: load a file"));
  CHECK(contains(error("a.safetensors", {{"w", {2, 3}}, {"b", {2}}}),
                 "cannot be loaded by_order: load them by name"));
}

TEST_CASE("a part is loaded only when that is asked for, and what is there has to fit") {
  const TempFolder folder;
  write_file(folder / "a.pth", {{"fc.weight", {2, 3}}, {"other", {1}}});
  CHECK(contains(error_of([&] { loaded(folder / "a.pth", {}); }),
                 "(nothing was loaded):\n  missing keys: fc.bias\n  unexpected keys: other"));
  CHECK(loaded(folder / "a.pth", {.strict = false}) == std::vector<float>{1, 2, 3, 4, 5, 6, 0, 0});
  SavedNetwork<float> network;
  const io::IncompatibleKeys keys =
      io::load_arrays(network.arrays, io::read_tensors(folder / "a.pth"), {.strict = false});
  CHECK(keys.missing_keys == std::vector<std::string>{"fc.bias"});
  CHECK(keys.unexpected_keys == std::vector<std::string>{"other"});
  write_file(folder / "a.pth", {{"fc.weight", {3, 2}}, {"fc.bias", {2}}});
  CHECK(contains(error_of([&] { loaded(folder / "a.pth", {.strict = false}); }),
                 "size mismatch for fc.weight"));
  write_file(folder / "a.pth", {{"lin.w", {2, 3}}});
  CHECK(contains(error_of([&] { loaded(folder / "a.pth", {.strict = false}); }),
                 "nothing was loaded"));
}

namespace {

// A network with a count between two arrays.
struct CountingNetwork {
  std::vector<float> values = std::vector<float>(8);
  index_t count = 5;
  std::vector<NamedArray<float>> arrays{{"a", {2, 3}, values.data()},
                                        {"norm.count", {}, nullptr, &count},
                                        {"b", {2}, values.data() + 6}};
};

}  // namespace

TEST_CASE("counts are nothing that a file and a network have in common") {
  TempFolder folder;
  const std::vector<float> values(8, 1.0f);
  const auto bytes = std::as_bytes(std::span(values));
  CountingNetwork network;
  const auto load = [&](const std::vector<TensorEntry>& entries, const io::LoadOptions& options) {
    io::write_tensors(folder / "a.pth", entries);
    return error_of(
        [&] { io::load_arrays(network.arrays, io::read_tensors(folder / "a.pth"), options); });
  };
  CHECK(contains(load({{"x", Dtype::F32, {2, 3}, bytes.first(24)}}, {.strict = false}),
                 "missing keys: a, b"));
  CHECK(contains(load({}, {.strict = false}), "missing keys: a, b"));
  CHECK(network.values == std::vector<float>(8));

  // By their places, a file may have no counts.
  const std::vector<TensorEntry> ordered{{"x", Dtype::F32, {2, 3}, bytes.first(24)},
                                         {"y", Dtype::F32, {2}, bytes.first(8)}};
  CHECK(contains(load(ordered, {}), "load with {.match = io::by_order}"));
  CHECK(load(ordered, {.match = io::by_order}).empty());
  CHECK(network.values == values);
  CHECK(network.count == 5);
}

TEST_CASE("a number that is no count changes nothing") {
  TempFolder folder;
  const std::vector<float> values(8, 1.0f);
  const auto bytes = std::as_bytes(std::span(values));
  const std::int64_t negative = -1;
  CountingNetwork network;
  io::write_tensors(folder / "a.pth",
                    std::vector<TensorEntry>{
                        {"a", Dtype::F32, {2, 3}, bytes.first(24)},
                        {"norm.count", Dtype::I64, {}, std::as_bytes(std::span(&negative, 1))},
                        {"b", Dtype::F32, {2}, bytes.first(8)}});
  CHECK(contains(
      error_of([&] { io::load_arrays(network.arrays, io::read_tensors(folder / "a.pth")); }),
      "a.pth: \"norm.count\" is -1 (want a count, 0 or more), save it again"));
  CHECK(network.values == std::vector<float>(8));
}

TEST_CASE("tensors of another type are to be saved as numbers") {
  TempFolder folder;
  const std::vector<std::uint8_t> bytes(8);
  SavedNetwork<float> network;
  io::write_safetensors(
      folder / "a", std::vector<TensorEntry>{
                        {"fc.weight", Dtype::F4, {2, 3}, std::as_bytes(std::span(bytes)).first(3)},
                        {"fc.bias", Dtype::F4, {2}, std::as_bytes(std::span(bytes)).first(1)}});
  const std::string error =
      error_of([&] { io::load_arrays(network.arrays, SafetensorsFile::read(folder / "a")); });
  CHECK(contains(error, "type mismatch for fc.bias: F4 in the file"));
  CHECK(contains(error, "\nsave these tensors as numbers that fit, in Python as tensor.float()"));
}
