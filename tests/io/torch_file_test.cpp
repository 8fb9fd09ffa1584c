#include <algorithm>
#include <bit>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/io/pickle.hpp>
#include <gpunet/io/torch_file.hpp>

#include "corpus.hpp"
#include "support/allocations.hpp"
#include "test_config.hpp"

#if GPUNET_TEST_ZLIB
#include <gpunet/io/zlib.hpp>
#endif

using namespace gpunet;
using io::Dtype;
using io::TensorEntry;
using io::TorchFile;
using io::detail::PickleWriter;
using namespace std::string_literals;

namespace {

std::vector<std::string> names_of(const io::TensorFile& file) {
  std::vector<std::string> names;
  for (const TensorEntry& entry : file.entries())
    names.push_back(entry.name);
  return names;
}

// What views() of tests/corpus/make.py has.
void check_views(const TorchFile& file) {
  CHECK(names_of(file) == std::vector<std::string>{"whole", "transposed", "rows", "part",
                                                   "channels_last", "expanded", "scalar", "empty"});
  const auto values = [&](std::string_view name) {
    return values_of(entry_named(file, name));
  };
  CHECK(values("whole") == ramp(24));
  const std::vector<double> transposed = values("transposed");
  for (std::size_t i = 0; i < 24; ++i)
    CHECK(transposed[i] == static_cast<double>(i % 4 * 6 + i / 4));
  CHECK(entry_named(file, "transposed").sizes == Sizes{6, 4});
  CHECK(values("rows") == ramp(12, 6));
  CHECK(values("part") == std::vector<double>{8, 9, 10, 20, 21, 22});
  CHECK(values("channels_last") == ramp(12));
  CHECK(values("expanded") == std::vector<double>{7, 7, 7, 8, 8, 8});
  CHECK(values("scalar") == std::vector<double>{2.5});
  CHECK(entry_named(file, "scalar").sizes == Sizes{});
  CHECK(entry_named(file, "empty").sizes == Sizes{0, 3});
  // One storage, in the file once.
  CHECK(entry_named(file, "whole").bytes.data() == entry_named(file, "transposed").bytes.data());
  CHECK(entry_named(file, "rows").bytes.data() == entry_named(file, "whole").bytes.data() + 24);
}

// A file with one tensor: of these sizes and strides, from the element `first` on, of 6 floats that
// a storage says it has `numel` of.
struct Forged {
  index_t numel = 6, first = 0;
  std::string sizes = PickleWriter().tuple({2, 3}).text().substr(2);
  std::string strides = PickleWriter().tuple({3, 1}).text().substr(2);
  std::string key = "0", storage = "torch.FloatStorage", more = "";
};

std::string error_in(const TempFolder& folder, const std::string& pickle) {
  write_archive(folder / "x.pth", {{"a/data.pkl", pickle}, {"a/data/0", std::string(24, '\0')}});
  return error_of([&] { TorchFile::read(folder / "x.pth"); });
}

std::string error_in(const TempFolder& folder, const Forged& forged) {
  PickleWriter pickle;
  pickle.opcodes("}")
      .string("w")
      .global("torch._utils._rebuild_tensor_v2")
      .opcodes("((")
      .string("storage");
  pickle.global(forged.storage)
      .string(forged.key)
      .string("cpu")
      .integer(forged.numel)
      .opcodes("tQ");
  pickle.integer(forged.first)
      .opcodes(forged.sizes)
      .opcodes(forged.strides)
      .opcodes("\x89")
      .ordered_dict();
  return error_in(folder, pickle.opcodes(forged.more).opcodes("tRs.").text());
}

std::string tuple(std::initializer_list<index_t> numbers) {
  return PickleWriter().tuple(Sizes(numbers)).text().substr(2);
}

}  // namespace

TEST_CASE("state_dicts of PyTorch are read: plain, of parameters, from a GPU, in the old format") {
  for (const char* name : {"state_dict.pth", "parameters.pth"}) {
    CAPTURE(name);
    const TorchFile file = TorchFile::read(corpus(name));
    CHECK(names_of(file) == std::vector<std::string>{"weight", "bias"});
    CHECK(values_of(file.entries()[0]) == ramp(6));
    CHECK(file.entries()[0].sizes == Sizes{2, 3});
    CHECK(values_of(file.entries()[1]) == std::vector<double>{0.5, -1.5});
  }
  for (const char* name : {"cuda.pth", "legacy_cuda.pth"}) {
    CAPTURE(name);
    CHECK(values_of(entry_named(TorchFile::read(corpus(name)), "weight")) == ramp(6));
  }
}

TEST_CASE("storages that tensors share, and strides, are followed") {
  check_views(TorchFile::read(corpus("views.pth")));
  check_views(TorchFile::read(corpus("legacy.pth")));
  const TorchFile bare = TorchFile::read(corpus("tensor.pt"));
  CHECK(names_of(bare) == std::vector<std::string>{""});
  CHECK(values_of(bare.entries()[0]) == ramp(4));
}

TEST_CASE("every type is read") {
  const TorchFile file = TorchFile::read(corpus("types.pth"));
  const std::vector<Dtype> types{
      Dtype::BOOL,    Dtype::U8,      Dtype::I8,      Dtype::I16,         Dtype::U16,
      Dtype::F16,     Dtype::BF16,    Dtype::I32,     Dtype::U32,         Dtype::F32,
      Dtype::C64,     Dtype::F64,     Dtype::I64,     Dtype::U64,         Dtype::C128,
      Dtype::F8_E5M2, Dtype::F8_E4M3, Dtype::F8_E8M0, Dtype::F8_E4M3FNUZ, Dtype::F8_E5M2FNUZ};
  REQUIRE(file.entries().size() == types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const TensorEntry& entry = file.entries()[i];
    CAPTURE(entry.name);
    CHECK(entry.dtype == types[i]);
    CHECK(entry.sizes == Sizes{16 * 8 / io::bits_of(entry.dtype)});
    REQUIRE(entry.bytes.size() == 16);
    for (std::size_t k = 0; k < 16; ++k)
      CHECK(entry.bytes[k] == static_cast<std::byte>(entry.dtype == Dtype::BOOL ? k % 2 : k));
  }
}

TEST_CASE("a checkpoint has its tensors under the keys that lead to them") {
  const TorchFile file = TorchFile::read(corpus("checkpoint.pth"));
  CHECK(names_of(file) ==
        std::vector<std::string>{
            "model_state_dict.weight", "model_state_dict.bias", "optimizer_state_dict.state.0.step",
            "optimizer_state_dict.state.0.exp_avg", "optimizer_state_dict.state.0.exp_avg_sq",
            "optimizer_state_dict.state.1.step", "optimizer_state_dict.state.1.exp_avg",
            "optimizer_state_dict.state.1.exp_avg_sq", "nested.a.b.0", "nested.a.b.1.0"});
  CHECK(values_of(file.entries()[0]) == ramp(6));
  CHECK(values_of(file.entries()[2]) == std::vector<double>{1});
}

TEST_CASE(
    "what stands beside tensors is passed over, and what no entry can hold is one with a problem") {
  const TorchFile file = TorchFile::read(corpus("beside.pth"));
  CHECK(names_of(file) ==
        std::vector<std::string>{"model_state_dict.weight", "model_state_dict.bias", "parameter",
                                 "noted", "unreadable.sparse", "unreadable.quantized",
                                 "unreadable.meta", "unreadable.conjugated", "unreadable.negated",
                                 "unreadable.half", "unreadable.ten", "keys.?", "keys.?.a",
                                 "keys.?", "keys.?", "keys.?"});
  CHECK(values_of(file.entries()[0]) == ramp(6));
  CHECK(values_of(file.entries()[2]) == ramp(2));  // a parameter, and a tensor, with attributes
  CHECK(values_of(file.entries()[3]) == ramp(3));
  const char* const problems[] = {
      "\"unreadable.sparse\" is sparse (gpunet reads dense ones), save .to_dense()",
      "is quantized (gpunet has no such numbers), save .dequantize()",
      "has a shape but no data",
      "is conjugated or negated",
      "is conjugated or negated",
      "has the dtype \"torch.complex32\" (gpunet has none like it)",
      "has 10 dimensions (gpunet handles at most 8), reshape it",
      "a key that is neither a text nor an integer"};
  for (std::size_t i = 4; i < file.entries().size(); ++i) {
    const TensorEntry& entry = file.entries()[i];
    CAPTURE(entry.name);
    CHECK(contains(entry.problem, problems[std::min<std::size_t>(i - 4, std::size(problems) - 1)]));
    CHECK(contains(entry.problem, "beside.pth, data.pkl, byte "));
    CHECK(contains(error_of([&] { values_of(entry); }), "could not be read: gpunet::io: "));
  }
  const TempFolder folder;
  CHECK(contains(
      error_of([&] { io::write_torch(folder / "x.pth", std::span(file.entries()).subspan(4, 1)); }),
      "\"unreadable.sparse\" could not be read"));
}

TEST_CASE("objects that are neither plain data nor tensors count only where they are wanted") {
  const TorchFile file = TorchFile::read(corpus("opaque.pth"));
  CHECK(names_of(file) == std::vector<std::string>{"best_acc", "array", "args", "optimizer", "net",
                                                   "history.0", "history.1", "settings.scale",
                                                   "settings.note", "weight", "bias"});
  CHECK(values_of(entry_named(file, "weight")) == ramp(6));
  // In a dict of an unknown class.
  CHECK(values_of(entry_named(file, "settings.scale")) == ramp(2));
  const auto problem = [&](std::string_view name, const std::string& what,
                           const std::string& advice) {
    CAPTURE(name);
    const TensorEntry& entry = entry_named(file, name);
    CHECK(entry.opaque);
    CHECK(contains(entry.problem, concat("opaque.pth, data.pkl, byte ")));
    CHECK(entry.problem.ends_with(concat(
        ": \"", name, "\" is ", what,
        " (gpunet reads tensors and plain data, and imports or executes nothing), ", advice)));
    CHECK(contains(error_of([&] { values_of(entry); }), "could not be read: gpunet::io: "));
  };
  const std::string number = "save a tensor (torch.from_numpy) or a number (float)",
                    data = "save its state_dict() or a dict of plain data";
  problem("best_acc", "an object made by \"numpy._core.multiarray.scalar\"", number);
  problem("array", "an object made by \"numpy._core.multiarray._reconstruct\"", number);
  problem("args", "an object made by \"argparse.Namespace\"", data);
  problem("optimizer", "the class or function \"torch.optim.sgd.SGD\"", data);
  problem("net", "an object made by \"torch.nn.modules.activation.ReLU\"", data);
  problem("history.1", "an object made by \"numpy._core.multiarray.scalar\"", number);
  problem("settings.note", "an object made by \"argparse.Namespace\"", data);
  CHECK(!entry_named(file, "weight").opaque);
  CHECK(!entry_named(TorchFile::read(corpus("beside.pth")), "unreadable.sparse").opaque);

  const TempFolder folder;
  // A history of many: those behind the first thousand are left out, and the tensors behind them
  // are read.
  std::string many = "\x80\2}(X\1\0\0\0ccposix\nsystem\nX\1\0\0\0l]("s;
  for (int i = 0; i < 5000; ++i)
    many += "cposix\nsystem\n)R";
  PickleWriter tensor;
  tensor.string("w").global("torch._utils._rebuild_tensor_v2").opcodes("((").string("storage");
  tensor.global("torch.FloatStorage")
      .string("0")
      .string("cpu")
      .integer(6)
      .opcodes("tQ")
      .integer(0)
      .tuple({6});
  tensor.tuple({1}).opcodes("\x89}tR");
  CHECK(error_in(folder, many + "e" + tensor.text().substr(2) + "u.").empty());
  const TorchFile history = TorchFile::read(folder / "x.pth");
  CHECK(history.entries().size() == 1001);
  CHECK(values_of(entry_named(history, "w")) == std::vector<double>(6));
}

TEST_CASE("pickles of every protocol that PyTorch loads, and of Python 2, are read") {
  for (const char* name : {"protocol_3.pth", "protocol_5.pth"}) {
    CAPTURE(name);
    CHECK(names_of(TorchFile::read(corpus(name))) ==
          names_of(TorchFile::read(corpus("checkpoint.pth"))));
    CHECK(values_of(entry_named(TorchFile::read(corpus(name)), "model_state_dict.weight")) ==
          ramp(6));
  }
  for (const char* name : {"protocol_1_legacy.pth", "protocol_4_legacy.pth"}) {
    CAPTURE(name);
    CHECK(values_of(entry_named(TorchFile::read(corpus(name)), "weight")) == ramp(6));
    CHECK(values_of(entry_named(TorchFile::read(corpus(name)), "bias")) ==
          std::vector<double>{0.5, -1.5});
  }
  const TorchFile file = TorchFile::read(corpus("python2.pth"));
  CHECK(names_of(file) == std::vector<std::string>{"quoted", "caf\u00e9"});
  CHECK(values_of(file.entries()[0]) == ramp(2));
  CHECK(values_of(file.entries()[1]) == ramp(3));
}

TEST_CASE("big-endian archives and deflated ones are read") {
  const TorchFile big = TorchFile::read(corpus("big_endian.pth"));
  CHECK(values_of(entry_named(big, "f")) == ramp(3));
  CHECK(values_of(entry_named(big, "half")) == ramp(2));
  CHECK(values_of(entry_named(big, "l")) == std::vector<double>{1099511627776.0});
  const TensorEntry& complex = entry_named(big, "c");
  CHECK(std::equal(complex.bytes.begin(), complex.bytes.end(),
                   std::as_bytes(std::span("\0\0\x80\x3f\0\0\0\xc0", 8)).begin()));

  // Two types in one storage cannot both be put in order.
  const TempFolder folder;
  PickleWriter shared;
  shared.opcodes("}(");
  for (const char* dtype : {"torch.uint16", "torch.uint32"}) {
    shared.string(dtype + 6)
        .global("torch._utils._rebuild_tensor_v3")
        .opcodes("((")
        .string("storage");
    shared.global("torch.storage.UntypedStorage")
        .string("0")
        .string("cpu")
        .integer(8)
        .opcodes("tQ")
        .integer(0);
    shared.tuple({2}).tuple({1}).opcodes("\x89}").global(dtype).opcodes("tR");
  }
  write_archive(folder / "x.pth", {{"a/data.pkl", shared.opcodes("u.").text()},
                                   {"a/byteorder", "big"},
                                   {"a/data/0", "\1\2\3\4\5\6\7\x08"}});
  const TorchFile file = TorchFile::read(folder / "x.pth");
  const TensorEntry& first = entry_named(file, "uint16");
  CHECK(std::equal(first.bytes.begin(), first.bytes.end(),
                   std::as_bytes(std::span("\2\1\4\3", 4)).begin()));
  CHECK(contains(entry_named(file, "uint32").problem,
                 "shares a big-endian storage with a tensor of another type (only one of them can "
                 "be put in order)"));

#if GPUNET_TEST_ZLIB
  const TorchFile deflated = TorchFile::read(corpus("deflated.pth"));
  CHECK(values_of(entry_named(deflated, "weight")) == ramp(6));
  CHECK(values_of(entry_named(deflated, "bias")) == std::vector<double>{0.5, -1.5});
#endif
  const io::DeflateCodec* const codec = std::exchange(io::deflate_codec(), nullptr);
  const std::string error = error_of([&] { TorchFile::read(corpus("deflated.pth")); });
  io::deflate_codec() = codec;
  CHECK(contains(
      error,
      "\"state_dict/data.pkl\" is deflated (which needs zlib), include <gpunet/io/zlib.hpp> in one "
      "source and link zlib (gpunet::zlib in CMake, -lz), or save the file again with torch.save"));
}

#if GPUNET_TEST_ZLIB
TEST_CASE("a deflated archive that is mostly air is an Error before its memory is taken") {
  const TempFolder folder;
  const auto error = [&](const std::string& pickle, const std::string& data) {
    {
      io::AtomicFile file(folder / "x.pth");
      io::detail::ZipWriter archive(file);
      archive.deflate("a/data.pkl", std::as_bytes(std::span(pickle)), *io::deflate_codec());
      archive.deflate("a/data/0", std::as_bytes(std::span(data)), *io::deflate_codec());
      archive.finish();
      file.commit();
    }
    const Count count;
    const std::string message = error_of([&] { TorchFile::read(folder / "x.pth"); });
    CHECK(count.largest() < 4 << 20);
    return message;
  };
  const index_t n = 8 << 20;
  PickleWriter pickle;
  pickle.opcodes("}")
      .string("w")
      .global("torch._utils._rebuild_tensor_v2")
      .opcodes("((")
      .string("storage");
  pickle.global("torch.ByteStorage")
      .string("0")
      .string("cpu")
      .integer(n)
      .opcodes("tQ")
      .integer(0)
      .tuple({n});
  pickle.tuple({1}).opcodes("\x89}tRs.");
  const std::string zeros(static_cast<std::size_t>(n), '\0');
  CHECK(contains(error(pickle.text(), zeros),
                 "has 8388608 bytes unpacked (more than 64 times the file: a zip bomb?)"));
  CHECK(contains(error(pickle.text(), zeros.substr(1)),
                 "\"a/data/0\" has 8388607 bytes (want 8388608: "));
  CHECK(contains(error("\x80\2](" + std::string(8 << 20, 'N') + "e.", ""),
                 "more than 64 times the file"));
  CHECK(contains(error("\x80\2](" + std::string(300 << 10, 'N') + "e.", ""),
                 " values (the most that gpunet reads here)"));
}
#endif

TEST_CASE("data that has changed is an Error, where the file has checksums") {
  const TempFolder folder;
  for (const char* name : {"state_dict.pth", "no_sums.pth"}) {
    CAPTURE(name);
    std::string text = read_text(corpus(name));
    const std::size_t at = text.find(bytes_of(-1.5f));
    REQUIRE(at != std::string::npos);
    text[at] ^= 1;
    io::write_file_atomically(folder / "x.pth", text);
    if (name == "no_sums.pth"s)
      CHECK(values_of(entry_named(TorchFile::read(folder / "x.pth"), "bias"))[1] ==
            std::nextafter(-1.5f, -2.0f));
    else
      CHECK(error_of([&] { TorchFile::read(folder / "x.pth"); }) ==
            concat("gpunet::io: ", folder / "x.pth", ", byte ", at - 4,
                   ": the checksum of \"state_dict/data/1\" does not match (its data is damaged), "
                   "fetch or save it "
                   "again"));
  }
}

TEST_CASE("what is no file of tensors is an Error that says what to do") {
  const TempFolder folder;
  CHECK(contains(
      error_of([&] { TorchFile::read(corpus("module.pth")); }),
      "data.pkl, byte 66: a whole object, of the global \"torch.nn.modules.activation.ReLU\" "));
  CHECK(error_of([&] { TorchFile::read(corpus("module_legacy.pth")); }) ==
        "gpunet::io: " + corpus("module_legacy.pth") +
            ", byte 153: a whole object, of the global \"torch.nn.modules.activation.ReLU\" "
            "(gpunet reads tensors "
            "and "
            "plain data, and imports or executes nothing), save its state_dict in Python: "
            "torch.save(net.state_dict(), path)");
  CHECK(
      contains(error_in(folder, "\x80\2cnumpy._core.multiarray\n_reconstruct\n)R."),
               "save arrays in Python with numpy.savez(path, **arrays), or torch.save of tensors"));
  CHECK(contains(error_of([&] { TorchFile::read(corpus("c_order.npy")); }),
                 "byte 0: no file of torch.save begins like this"));
  CHECK(contains(error_of([&] { TorchFile::read(corpus("stored.npz")); }),
                 "a zip archive without data.pkl"));
  write_archive(folder / "x.pth", {{"a/data.pkl", "\x80\2}."}, {"a/constants.pkl", ""}});
  CHECK(contains(error_of([&] { TorchFile::read(folder / "x.pth"); }),
                 "torch.save(torch.jit.load(path).state_dict(), new_path)"));
  write_archive(folder / "x.pth", {{"a/data.pkl", "\x80\2}."}, {"a/byteorder", "middle"}});
  CHECK(contains(error_of([&] { TorchFile::read(folder / "x.pth"); }),
                 "the byte order is neither little nor big"));
  write_archive(folder / "x.pth", {{"a/data.pkl", "\x80\2}."}, {"b/data.pkl", "\x80\2}."}});
  CHECK(contains(error_of([&] { TorchFile::read(folder / "x.pth"); }), "several data.pkl"));
  CHECK(contains(error_in(folder, "\x80\2}.N"s), "more bytes than the pickle has"));
}

TEST_CASE("a tensor that does not fit its storage is an Error") {
  const TempFolder folder;
  constexpr index_t largest = std::numeric_limits<index_t>::max();
  CHECK(error_in(folder, Forged{}).empty());
  CHECK(contains(error_in(folder, Forged{.numel = 7}),
                 "wants a storage of 7 elements, which has 24 bytes"));
  CHECK(contains(error_in(folder, Forged{.numel = largest}),
                 "a storage of 9223372036854775807 elements"));
  CHECK(contains(error_in(folder, Forged{.first = 1}),
                 "the tensor \"w\" of shape [2, 3] and strides [3, 1] exceeds its "
                 "storage of 6 elements"));
  CHECK(contains(error_in(folder, Forged{.first = largest}), "exceeds its storage"));
  CHECK(contains(error_in(folder, Forged{.sizes = tuple({largest, largest})}), "is too large"));
  CHECK(contains(error_in(folder, Forged{.sizes = tuple({2, 4})}), "exceeds its storage"));
  CHECK(contains(error_in(folder, Forged{.strides = tuple({largest, largest})}),
                 "exceeds its storage"));
  CHECK(contains(error_in(folder, Forged{.strides = tuple({3})}),
                 "does not have one stride per dimension"));
  CHECK(contains(error_in(folder, Forged{.sizes = "(J\xFF\xFF\xFF\xFFK\1t"}),
                 "expected a natural number"));
  CHECK(
      contains(error_in(folder, Forged{.strides = "(" + std::string(9, 'N') + "t"}), "9 strides"));
  CHECK(contains(error_in(folder, Forged{.sizes = "N"}), "expected a shape"));
  CHECK(
      contains(error_in(folder, Forged{.key = "1"}), "has the storage \"1\", which is not there"));
  CHECK(contains(error_in(folder, Forged{.storage = "torch.float32"}),
                 "a storage of type torch.float32"));
  // Strides of extents of 1 may be anything; a stride of 0 makes many elements of one.
  CHECK(error_in(folder, Forged{.sizes = tuple({1, 1}), .strides = tuple({largest, largest})})
            .empty());
  CHECK(error_in(folder, Forged{.sizes = tuple({largest / 64, 1}), .strides = tuple({0, largest})})
            .empty());
}

TEST_CASE("values inside themselves, deep ones and bombs of shared ones are Errors") {
  const TempFolder folder;
  CHECK(contains(error_in(folder, "\x80\2}q\0X\1\0\0\0ah\0s."s), "\"a\" is inside itself"));
  CHECK(contains(
      error_in(folder, "\x80\2" + std::string(100000, ']') + std::string(99999, 'a') + "."),
      "more than 64 values inside each other (more than gpunet reads), save the state_dict by "
      "itself"));
  // Forty dicts, each of which holds the next twice: 2^40 names for one tensor.
  PickleWriter tensor;
  tensor.global("torch._utils._rebuild_tensor_v2")
      .opcodes("((")
      .string("storage")
      .global("torch.FloatStorage");
  tensor.string("0")
      .string("cpu")
      .integer(6)
      .opcodes("tQ")
      .integer(0)
      .tuple({6})
      .tuple({1})
      .opcodes("\x89}tR");
  std::string bomb = tensor.text() + "q\0"s;
  for (int i = 0; i < 40; ++i)
    bomb += "}(X\1\0\0\0ah"s + static_cast<char>(i) + "X\1\0\0\0bh"s + static_cast<char>(i) + "uq" +
            static_cast<char>(i + 1);
  // All of them in a list under "l", and the last under "r".
  const std::string whole = "\x80\2}(X\1\0\0\0l]("s + bomb.substr(2) + "eX\1\0\0\0rh\x28u."s;
  CHECK(contains(error_in(folder, whole), "the same values in too many places"));
  // Long names: a key of a million letters.
  CHECK(contains(error_in(folder, "\x80\2}X\x40\x42\x0f\0"s + std::string(1000000, 'x') + "]s."),
                 "a name longer than 1000 bytes"));
  const std::string once = tensor.text().substr(2);
  CHECK(contains(
      error_in(folder, "\x80\2}(X\3\0\0\0a.b"s + once + "X\1\0\0\0a}X\1\0\0\0b"s + once + "su."),
      "two tensors have the name \"a.b\""));
}

TEST_CASE(
    "whatever a file says, it takes a small multiple of its bytes of memory, and so do messages "
    "about it") {
#if GPUNET_CUDA
  MESSAGE("skipped: nvcc's program does not count allocations");
  return;
#endif
  const TempFolder folder;
  PickleWriter writer;
  writer.global("torch._utils._rebuild_tensor_v2")
      .opcodes("((")
      .string("storage")
      .global("torch.FloatStorage");
  writer.string("0")
      .string("cpu")
      .integer(6)
      .opcodes("tQ")
      .integer(0)
      .tuple({6})
      .tuple({1})
      .opcodes("\x89}tRq\1");
  const std::string tensor = writer.text().substr(2), key = "X\xd9\3\0\0"s + std::string(985, 'x');
  const auto repeat = [](std::string_view text, int n) {
    std::string out;
    for (int i = 0; i < n; ++i)
      out += text;
    return out;
  };
  const int n = 100'000;
  // One tensor in a list.
  const std::string pickles[] = {
      "}" + key + "](" + tensor + repeat("h\1", n) + "es.",
      "}" + key + "](" + repeat("cx\ny\n)R", n) + "es.",  // opaque objects
      // One class.
      "}" + key + "](cx\ny\nq\1" + repeat("h\1", n) + "es.",
      "](ctorch._tensor\n_rebuild_from_type_v2\n(cx\ny\nN)NtRq\1" + repeat("h\1", n) +
          "e.",  // one class with attributes
      "](" + repeat("N", n) + "e.", repeat("]", n) + repeat("a", n - 1) + ".",  // small values
      "N" + repeat("\x85", n) + ".", "](" + repeat("cx\n\n", n) + "e.",         // tuples, globals
      "](" + repeat("c\n\n", n) + "e.", "](" + repeat("V\\u0041\n", n) + "e.",  // and texts
      "](" + repeat("(t", n) + "e.", "](" + repeat("(ix\ny\n", n) + "e.",
      "N" + repeat("2", n) + repeat("0", n) + ".", "]" + repeat("q\1", n) + "."};
  for (const std::string& pickle : pickles) {
    write_archive(folder / "x.pth",
                  {{"a/data.pkl", "\x80\2" + pickle}, {"a/data/0", std::string(24, '\0')}});
    CAPTURE(pickle.substr(0, 20));
    std::size_t bytes = 0;
    std::string message;
    {
      const Count count;
      message = error_of([&] { TorchFile::read(folder / "x.pth"); });
      bytes = count.bytes();
    }
    CHECK(message.size() < 2000);
    CHECK(bytes < 128 * pickle.size() + (4 << 20));
  }
}

TEST_CASE("the old format that lies is an Error") {
  const TempFolder folder;
  const std::string whole = read_text(corpus("legacy_cuda.pth"));
  const auto error = [&](std::size_t at, const std::string& bytes) {
    io::write_file_atomically(folder / "x.pth", whole);
    patch(folder / "x.pth", at, bytes);
    return error_of([&] { TorchFile::read(folder / "x.pth"); });
  };
  const std::size_t numel = whole.size() - 32;
  CHECK(error(numel, "\6").empty());
  CHECK(contains(error(numel, bytes_of(~std::uint64_t{0})), "-1 elements in a storage of 6"));
  // The data is little-endian whatever machine saved it.
  CHECK(error(whole.find("little_endian") + 15, "\x89").empty());
  CHECK(contains(error(18, "\1"), "another version of the old format than 1001"));
  CHECK(contains(error(whole.rfind("00000000000000"), "1"), "which no tensor wants"));
  CHECK(contains(error(0, whole + "x"), "1 bytes more than wanted"));
}

TEST_CASE("what is written is read, whatever its type and strides") {
  const TempFolder folder;
  for (const char* name : {"types.pth", "views.pth", "legacy.pth", "checkpoint.pth"}) {
    CAPTURE(name);
    const TorchFile file = TorchFile::read(corpus(name));
    io::write_torch(folder / "x.pth", file.entries());
    const TorchFile again = TorchFile::read(folder / "x.pth");
    REQUIRE(names_of(again) == names_of(file));
    for (std::size_t i = 0; i < file.entries().size(); ++i) {
      const TensorEntry &a = file.entries()[i], &b = again.entries()[i];
      CAPTURE(a.name);
      CHECK(a.dtype == b.dtype);
      CHECK(a.sizes == b.sizes);
      CHECK(b.strides == Sizes{});
      std::vector<std::byte> copy;
      const auto bytes = io::detail::row_major_bytes(a, copy);
      CHECK(std::equal(bytes.begin(), bytes.end(), b.bytes.begin(), b.bytes.end()));
    }
  }
  const std::vector<TensorEntry> odd{{"a", Dtype::F4, {2}, std::as_bytes(std::span("x", 1))}};
  CHECK(contains(error_of([&] { io::write_torch(folder / "y.pth", odd); }),
                 "has dtype F4 (PyTorch has none like it)"));
  CHECK(folder.count() == 1);
}
