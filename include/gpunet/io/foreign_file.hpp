// Recognizes other kinds of files that are often mistaken for files of weights or for tables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>

namespace gpunet::io::detail {

struct ForeignKind {
  std::string_view mark, what, advice;
  std::size_t at = 0;  // the position of the mark
};

// Neither weights nor tables.
inline constexpr ForeignKind foreign_kinds[] = {
    {"version https://git-lfs", "is a pointer of Git LFS (the file itself was not fetched)",
     "run git lfs pull in its repository"},
    {"\x1F\x8B", "is compressed by gzip", "decompress it (gunzip)"},
    {"1AY&SY", "is compressed by bzip2", "decompress it (bunzip2)", 4},
    {"\3757zXZ", "is compressed by xz", "decompress it (unxz)"},  // \xFD, then 7zXZ
    {"\x28\xB5\x2F\xFD", "is compressed by zstd", "decompress it (unzstd)"},
    {"\x04\x22\x4D\x18", "is compressed by lz4", "decompress it (unlz4)"},
    {"7z\xBC\xAF\x27", "is a 7-Zip archive", "unpack it (7z x)"},
    {"Rar!", "is a RAR archive", "unpack it (unrar x)"},
    {"ustar", "is a tar archive", "unpack it (tar xf)", 257},
    {"\x89HDF", "is an HDF5 file (of Keras?)",
     "save its arrays in Python with h5py and numpy.savez"},
    {"MATLAB 7.3 MAT-file", "is a file of MATLAB",
     "save its arrays in Python with h5py and numpy.savez"},
    {"MATLAB 5.0 MAT-file", "is a file of MATLAB",
     "save its arrays in Python with scipy.io.loadmat and numpy.savez"},
    {"PAR1\x15", "is a Parquet file",
     "save it as text in Python: pandas.read_parquet(path).to_csv(new_path, index=False)"},
    {std::string_view("ARROW1\0\0", 8), "is a Feather (Arrow) file",
     "save it as text in Python: pandas.read_feather(path).to_csv(new_path, index=False)"},
    {"SQLite format 3", "is a database of SQLite",
     "save its tables as text (sqlite3 -header -csv)"},
    {"\xD0\xCF\x11\xE0", "is a workbook or document of Office", "save it as CSV"},
    {"RDX3\nX\n", "is a file of R", "save its tables in R with write.csv"},
    {"%PDF", "is a PDF document", "give the file of the data"},
    {"\x89PNG", "is a PNG image", "read it with io::read_image"},
    {"\xFF\xD8\xFF", "is a JPEG image", "read it with io::read_image"},
    {"TFL3", "is a model of TensorFlow Lite (gpunet reads arrays, not graphs)",
     "save the variables of the model that it was made from in Python with numpy.savez", 4},
    {"PYTORCH1", "is a TorchScript program of PyTorch 1.0 (gpunet reads tensors, not code)",
     "load it with that PyTorch, and save its state_dict with torch.save"},
    {"GGUF", "is a GGUF file (of llama.cpp)", "give the safetensors file that it was made from"},
};

// Kinds of files of weights without a mark, by the ends of their names.
inline constexpr ForeignKind foreign_names[] = {
    {".onnx", "is an ONNX model (a graph with its weights)",
     "make a network of it: Network net(device, onnx::read(path)), with <gpunet/onnx.hpp>"},
    {".pb", "is a model of TensorFlow (gpunet reads arrays, not graphs)",
     "save its variables in Python with numpy.savez"},
    {".index", "is a part of a checkpoint of TensorFlow",
     "save its variables in Python with numpy.savez"},
    {".data-00000-of-00001", "is a part of a checkpoint of TensorFlow",
     "save its variables in Python with numpy.savez"},
    {".mlmodel", "is a model of Core ML (gpunet reads arrays, not graphs)",
     "save the state_dict of the network that it was made from with torch.save"},
    {".caffemodel", "is a model of Caffe", "save its arrays in Python with numpy.savez"},
    {".msgpack", "is a checkpoint of Flax",
     "save its arrays in Python with safetensors or numpy.savez"},
};

[[noreturn]] inline void refuse_kind(const std::string& path, std::string_view what,
                                     std::string_view advice) {
  throw_error(Error(concat("gpunet::io: ", path, ' ', what, ", ", advice)));
}

inline void refuse_marked(std::string_view text, const std::string& path) {
  for (const ForeignKind& kind : foreign_kinds)
    if (text.size() > kind.at && text.substr(kind.at).starts_with(kind.mark))
      refuse_kind(path, kind.what, kind.advice);
}

// Returns the text after a byte order mark and spaces.
inline std::string_view without_spaces(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of("\xEF\xBB\xBF \t\r\n"), text.size()));
}

inline constexpr ForeignKind web_page{
    "<", "is a web page or XML (what a server answers instead of a file?)",
    "fetch it again, from the address of the file itself"};

// Throws Error if the contents of a file that gpunet does not read are recognized as another kind.
inline void refuse_foreign(std::string_view text, const std::string& path) {
  if (text.empty())
    refuse_kind(path, "is empty (a save or a download that failed?)", "save or fetch it again");
  if (text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5 &&
      text.ends_with('.'))  // protocols, STOP
    refuse_kind(
        path, "is a pickle of Python that torch.save did not write (a pickle can execute anything)",
        "save the arrays in Python with torch.save or numpy.savez");
  if (text.size() > 262 && text.substr(257, 5) == "ustar") {
    const std::string_view first_file = text.substr(0, text.find('\0'));
    if (first_file == "sys_info" || first_file == "pickle" || first_file == "tensors" ||
        first_file == "storages")
      refuse_kind(
          path,
          "is a file of torch.save of PyTorch 0.1 (a tar archive, which gpunet does not read)",
          "load it in Python with torch.load(path, weights_only=False), if you trust it, and save "
          "its state_dict anew");
  }
  refuse_marked(text, path);
  const std::string_view body = without_spaces(text);
  if (body.starts_with(web_page.mark)) refuse_kind(path, web_page.what, web_page.advice);
  if (body.starts_with('{'))
    refuse_kind(path, "is a text in JSON (the index of a model in several files?)",
                "give a file with the weights");
  for (const ForeignKind& kind : foreign_names)
    if (path.ends_with(kind.mark)) refuse_kind(path, kind.what, kind.advice);
  // Protocol buffers: field 1, the version of the format, then field 2.
  if (text.size() > 4 && text[0] == 8 && text[1] > 0 && text[2] == 0x12) {
    if (text[4] == '\n')  // a message, the graph of TensorFlow; ONNX has the name of a program here
      refuse_kind(path, "is probably a SavedModel of TensorFlow (gpunet reads arrays, not graphs)",
                  "save its variables in Python with numpy.savez");
    refuse_kind(
        path, "is probably an ONNX model (a graph with its weights)",
        "make a network of it: Network net(device, onnx::read(path)), with <gpunet/onnx.hpp>");
  }
}

// Throws Error if the contents of a file are recognized as anything but a table in UTF-8.
inline void refuse_foreign_table(std::string_view text, const std::string& path) {
  refuse_marked(text, path);
  if (text.starts_with("PK\3\4")) {
    const bool is_workbook = text.find("[Content_Types].xml") != std::string_view::npos ||
                             text.find("vnd.oasis.opendocument") != std::string_view::npos;
    if (is_workbook)
      refuse_kind(path, "is a workbook of Excel or another office program", "save it as CSV");
    refuse_kind(path, "is a zip archive", "unpack it (unzip)");
  }
  const auto is_nul = [&](std::size_t i) {
    return text[i] == '\0';
  };
  const bool has_halves =  // two letters of ASCII without a byte order mark
      text.size() >= 4 && is_nul(0) != is_nul(1) && is_nul(2) == is_nul(0) &&
      is_nul(3) == is_nul(1);
  if (has_halves || text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    refuse_kind(path, "is a text in UTF-16 (want UTF-8)",
                "save it as UTF-8 (iconv -f UTF-16 -t UTF-8)");
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
    refuse_kind(path, concat("has a NUL at byte ", at, " (it is damaged, or no text)"),
                "fetch or save it again");
  const std::string_view body = without_spaces(text);
  const std::string begin = gpunet::detail::lower_case(std::string(body.substr(0, 9)));
  for (const std::string_view mark : {"<!doctype", "<!--", "<html", "<head", "<?xml", "<svg"})
    if (begin.starts_with(mark)) refuse_kind(path, web_page.what, web_page.advice);
  for (const std::string_view mark : {"{\"", "{\n", "{\r", "[{", "[[", "[\n", "[\r"})
    if (body.starts_with(mark))
      refuse_kind(path, "is a text in JSON",
                  "save it as CSV in Python: pandas.read_json(path).to_csv(new_path, index=False)");
}

}  // namespace gpunet::io::detail
