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
    return entries_of(read_tensors(folder / name)).size();
  };
  CHECK(names("state_dict.pth", "x.bin") == 2);
  CHECK(names("legacy.pth", "x.safetensors") == 8);
  CHECK(names("protocol_1_legacy.pth", "x.bin") == 2);
  CHECK(names("protocol_4_legacy.pth", "x.bin") == 2);
  CHECK(names("c_order.npy", "x.pth") == 1);
  for (const char* name : {"x.npz", "x.pth", "x.safetensors", "x"})
    for (const auto& [source, entries] : {std::pair("stored.npz", 3u), {"state_dict.pth", 2u}}) {
      CAPTURE(name);
      CHECK(names(source, name) == entries);
    }
  io::write_tensors(folder / "y.safetensors", entries_of(read_tensors(corpus("views.pth"))));
  io::write_file_atomically(folder / "y.pth", read_text(folder / "y.safetensors"));
  CHECK(entries_of(read_tensors(folder / "y.pth")).size() == 8);
  CHECK(values_of(entry_named(read_tensors(folder / "y.safetensors"), "part")) ==
        std::vector<double>{8, 9, 10, 20, 21, 22});
}

TEST_CASE("a safetensors file whose header has a length that begins like another format is one") {
  const TempFolder folder;
  // "PK", and the magic of the old format of PyTorch.
  for (const std::uint64_t length : {0x4B50u, 0x8A0280u}) {
    io::write_file_atomically(
        folder / "x.pth",
        bytes_of(length) + "{}" + std::string(static_cast<std::size_t>(length) - 2, ' '));
    CHECK(entries_of(read_tensors(folder / "x.pth")).empty());
  }
}

TEST_CASE("other files that are taken for weights are named, with what to do") {
  const TempFolder folder;
  const auto error = [&](const std::string& text) {
    std::string common;
    for (const char* name : {"x.pth", "x.npz", "x.npy", "x.safetensors", "x.bin"}) {
      const std::string path = folder / name;
      io::write_file_atomically(path, text);
      std::string message = error_of([&] { read_tensors(path); });
      CHECK(message.starts_with("gpunet::io: " + path));
      message.erase(0, std::string("gpunet::io: " + path).size());
      CHECK((common.empty() || common == message));
      common = message;
    }
    return common;
  };
  CHECK(error("") == " is empty (a save or a download that failed?), save or fetch it again");
  CHECK(error("\r\n<!DOCTYPE html>\n<html>") ==
        " is a web page or XML (what a server answers instead of a file?), fetch it again, from "
        "the address of the "
        "file "
        "itself");
  CHECK(error("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n") ==
        " is a pointer of Git LFS (the file itself was not fetched), run git lfs pull in its "
        "repository");
  CHECK(contains(error("{\"weight_map\": {}}"), "is a text in JSON"));
  CHECK(contains(error("\x1F\x8B\x08\0\0\0\0\0\0\3"s),
                 "is compressed by gzip, decompress it (gunzip)"));
  CHECK(contains(error("\x89HDF\r\n\x1A\n"), "is an HDF5 file"));
  CHECK(contains(error("\x8\1\x12\4\n\2\x8\1"s),
                 "is probably a SavedModel of TensorFlow (gpunet reads arrays, not "
                 "graphs), save its variables in Python with numpy.savez"));
  CHECK(contains(error("\x1C\0\0\0TFL3\0\0\0\0"s),
                 "is a model of TensorFlow Lite (gpunet reads arrays, not graphs)"));
  // Begins with a space.
  CHECK(contains(error("\x20\0\0\0TFL3\0\0\0\0"s), "is a model of TensorFlow Lite"));
  CHECK(contains(
      error("MATLAB 5.0 MAT-file Platform: posix"),
      "is a file of MATLAB, save its arrays in Python with scipy.io.loadmat and numpy.savez"));
  CHECK(contains(error("MATLAB 7.3 MAT-file"),
                 "is a file of MATLAB, save its arrays in Python with h5py"));
  CHECK(contains(error("\x89PNG\r\n\x1A\n"), "is a PNG image, read it with io::read_image"));
  CHECK(contains(error("\x08\x08\x12\7pytorch"), "is probably an ONNX model"));
  CHECK(contains(error("\x80\4\x95\2\0\0\0\0\0\0\0]\x94."s),
                 "is a pickle of Python that torch.save did not write"));
  CHECK(contains(error(std::string(257, '\0') + "ustar" + std::string(250, '\0')),
                 "is a tar archive, unpack it (tar xf)"));
  CHECK(error(read_text(corpus("torch_0_1.pth"))) ==
        " is a file of torch.save of PyTorch 0.1 (a tar archive, which gpunet does not read), load "
        "it in Python with "
        "torch.load(path, weights_only=False), if you trust it, and save its state_dict anew");
  CHECK(contains(error("PYTORCH1\0\0\0\0"s), "is a TorchScript program of PyTorch 1.0"));
  CHECK(contains(
      error(read_text(corpus("script_2019.pt"))),
      ": a TorchScript program (gpunet reads tensors, not code), save its state_dict in Python: "
      "torch.save(torch.jit.load(path).state_dict(), new_path)"));
  const std::string text = folder / "notes.txt";
  io::write_file_atomically(text, std::string_view("Some notes, which are no arrays."));
  CHECK(
      error_of([&] { read_tensors(text); }) ==
      "gpunet::io: " + text +
          ", byte 0: neither a safetensors file, nor one of torch.save or NumPy, begins like this "
          "(it is damaged, or something else), fetch it again or give another");
  const std::string script = folder / "script.pt", other = folder / "other.pt";
  write_archive(script, {{"a/data.pkl", "\x80\2}."}, {"a/code/a.py", ""}, {"a/constants.pkl", ""}});
  CHECK(contains(error(read_text(script)),
                 ": a TorchScript program (gpunet reads tensors, not code), save its state_dict"));
  write_archive(other, {{"a/models/model.json", "{}"}, {"a/byteorder", "little"}});
  CHECK(contains(
      error(read_text(other)),
      ": a zip archive of something else (neither the data.pkl of torch.save "
      "nor a .npy file of numpy.savez is in it, but a/models/model.json), give another file"));
  // The members of archives by torch.export.save (PyTorch 2.15 and 2.4), Keras 3 and Excel.
  const std::string foreign = folder / "foreign.zip";
  const auto archive_error = [&](const std::vector<std::string>& names) {
    std::vector<std::pair<std::string, std::string>> members;
    for (const std::string& name : names)
      members.emplace_back(name, "{}");
    write_archive(foreign, members);
    return error(read_text(foreign));
  };
  const std::string exported =
      ": a program of torch.export (gpunet reads tensors, not code), save its state_dict in "
      "Python: torch.save(torch.export.load(path).state_dict, new_path)";
  CHECK(archive_error({"net/data/weights/weight_0", "net/models/model.json", "net/archive_format",
                       "net/byteorder"}) == exported);
  CHECK(archive_error({"serialized_exported_program.json", "serialized_state_dict.pt",
                       "version"}) == exported);
  CHECK(archive_error({"metadata.json", "config.json", "model.weights.h5"}) ==
        ": a model of Keras (its weights are an HDF5 file), save them in Python: "
        "numpy.savez(new_path, "
        "*keras.models.load_model(path).get_weights())");
  CHECK(archive_error({"[Content_Types].xml", "xl/worksheets/sheet1.xml"}) ==
        ": a workbook or document of Office, save its table as CSV, for data::read_csv");
  const auto by_name = [&](const std::string& name) {
    const std::string path = folder / name;
    io::write_file_atomically(path, "?????"s);
    return error_of([&] { read_tensors(path); });
  };
  CHECK(contains(
      by_name("a.onnx"),
      "a.onnx is an ONNX model (a graph with its weights), make a network of it: Network"));
  CHECK(contains(by_name("saved_model.pb"), "is a model of TensorFlow"));
  CHECK(contains(by_name("variables.data-00000-of-00001"),
                 "is a part of a checkpoint of TensorFlow, save"));
  CHECK(contains(by_name("variables.index"), "is a part of a checkpoint of TensorFlow, save"));
  CHECK(contains(by_name("a.mlmodel"), "is a model of Core ML"));
  CHECK(contains(by_name("a.caffemodel"), "is a model of Caffe"));
  CHECK(contains(by_name("a.msgpack"), "is a checkpoint of Flax"));
  CHECK(contains(error(read_text(corpus("module.pth"))),
                 "a whole object, of the global \"torch.nn.modules."));
  CHECK(contains(error_of([&] { read_tensors(folder.path()); }),
                 "it is a folder, give a file in it"));
  CHECK(contains(error_of([&] { read_tensors(folder / "none.pth"); }),
                 "No such file or directory, check the path"));
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
  CHECK(contains(begin("A.PTH"), "archive/data.pkl"));
  CHECK(contains(begin("a.Npz"), "layer.weight.npy"));
  CHECK(contains(begin("a.SafeTensors"), "{\"f\":{\"dtype\""));
  for (const char* name : {"a", "a.txt", "a.pth.bak", "pth", "a.", "folder.pth/a"})
    CHECK(error_of([&] { begin(name); }) ==
          "gpunet::io: cannot write " + (folder / name) +
              ": its name has none of the extensions .safetensors, .pth, .pt, .npz "
              "or (for one array) .npy, which choose "
              "the format: add one");
  CHECK(folder.count() == 7);
  CHECK(error_of([&] { io::write_tensors("", file.entries()); }) ==
        "gpunet::io: cannot write a file whose path is empty, give its name");
  io::write_tensors(folder / "a.npy", std::span(file.entries()).first(1));
  CHECK(read_text(folder / "a.npy") == read_text(corpus("c_order.npy")));
  CHECK(contains(error_of([&] { begin("b.npy"); }),
                 "3 arrays (a .npy file holds one), name it .npz"));
  CHECK(contains(error_of([&] {
                   io::write_tensors(folder / "b.pth", {}, {{"a", "b"}});
                 }),
                 "name it .safetensors"));

  for (const char* name : {"x.pth", "x.pt", "x.npy", "x.npz", "x.safetensors", "x"})
    for (const std::string& text : {""s, "x"s, "no file of any kind"s}) {
      io::write_file_atomically(folder / name, text);
      CAPTURE(name);
      CHECK(error_of([&] {
              read_tensors(folder / name);
            }).starts_with("gpunet::io: " + (folder / name)));
    }
}
