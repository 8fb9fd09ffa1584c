#include <cstdint>
#include <doctest/doctest.h>
#include <string>

#include <gpunet/io/formats.hpp>

#include "corpus.hpp"

using namespace gpunet;
using io::read_tensors;
using namespace std::string_literals;

TEST_CASE("the content tells the format, whatever the name") {
  const TempFolder folder;
  const auto names = [&](const std::string& source, const std::string& name) {
    io::write_file_atomically(folder / name, read_text(corpus(source)));
    return read_tensors(folder / name).entries().size();
  };
  CHECK(names("state_dict.pth", "x.bin") == 2);
  CHECK(names("legacy.pth", "x.safetensors") == 8);
  CHECK(names("c_order.npy", "x.pth") == 1);
  CHECK(names("stored.npz", "x.npz") == 3);
  io::write_tensors(folder / "y.safetensors", read_tensors(corpus("views.pth")).entries());
  io::write_file_atomically(folder / "y.pth", read_text(folder / "y.safetensors"));
  CHECK(read_tensors(folder / "y.pth").entries().size() == 8);
  CHECK(values_of(entry_named(read_tensors(folder / "y.safetensors"), "part")) ==
        std::vector<double>{8, 9, 10, 20, 21, 22});
}

TEST_CASE("a safetensors file whose header has a length that begins like another format is one") {
  const TempFolder folder;
  for (const std::uint64_t length : {0x4B50u, 0x8A0280u}) {  // "PK", and the magic of the old format of PyTorch
    io::write_file_atomically(folder / "x.pth",
                              bytes_of(length) + "{}" + std::string(static_cast<std::size_t>(length) - 2, ' '));
    CHECK(read_tensors(folder / "x.pth").entries().empty());
  }
}

TEST_CASE("the name tells the format that is written, or that was meant") {
  const TempFolder folder;
  const io::TensorFile file = read_tensors(corpus("stored.npz"));
  const auto begin = [&](const std::string& name) {
    io::write_tensors(folder / name, file.entries());
    return read_text(folder / name);
  };
  CHECK(contains(begin("a.pth"), "archive/data.pkl"));
  CHECK(contains(begin("a.pt"), "archive/data.pkl"));
  CHECK(contains(begin("a.npz"), "layer.weight.npy"));
  CHECK(contains(begin("a.safetensors"), "{\"f\":{\"dtype\""));
  CHECK(contains(begin("a"), "{\"f\":{\"dtype\""));
  io::write_tensors(folder / "a.npy", std::span(file.entries()).first(1));
  CHECK(read_text(folder / "a.npy") == read_text(corpus("c_order.npy")));
  CHECK(contains(error_of([&] { begin("b.npy"); }), "3 arrays (a .npy file holds one), name it .npz"));
  CHECK(contains(error_of([&] { io::write_tensors(folder / "b.pth", {}, {{"a", "b"}}); }), "name it .safetensors"));

  for (const char* name : {"x.pth", "x.pt", "x.npy", "x.npz", "x.safetensors", "x"})
    for (const std::string& text : {""s, "x"s, "no file of any kind"s}) {
      io::write_file_atomically(folder / name, text);
      CAPTURE(name);
      CHECK(error_of([&] { read_tensors(folder / name); }).starts_with("gpunet::io: " + (folder / name)));
    }
}
