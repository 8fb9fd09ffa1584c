// Recognizes other kinds of files that are often mistaken for files of weights.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <gpunet/core/error.hpp>

namespace gpunet::io::detail {

struct ForeignKind {
  std::string_view begin, what, advice;
};

inline constexpr ForeignKind foreign_kinds[] = {
    {"version https://git-lfs", "is a pointer of Git LFS (the file itself was not fetched)",
     "run git lfs pull in its repository"},
    {"<", "is a web page or XML (what a server answers instead of a file?)",
     "fetch it again, from the address of the file itself"},
    {"{", "is a text in JSON (the index of a model in several files?)", "give a file with the weights"},
    {"\x1F\x8B", "is compressed by gzip", "decompress it (gunzip)"},
    {"\x89HDF", "is an HDF5 file (of Keras?)", "save its arrays in Python with numpy.savez"},
    {"PYTORCH1", "is a TorchScript program of PyTorch 1.0 (gpunet reads tensors, not code)",
     "load it with that PyTorch, and save its state_dict with torch.save"},
    {"GGUF", "is a GGUF file (of llama.cpp)", "give the safetensors file that it was made from"},
};

// Throws Error if the contents of a file that gpunet does not read are recognized as another kind.
inline void refuse_foreign(std::string_view text, const std::string& path) {
  const auto refuse = [&](std::string_view what, std::string_view advice) {
    throw_error(Error(concat("gpunet::io: ", path, ' ', what, ", ", advice)));
  };
  if (text.empty()) refuse("is empty (a save or a download that failed?)", "save or fetch it again");
  const std::size_t first = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");  // after a byte order mark and spaces
  for (const ForeignKind& kind : foreign_kinds)
    if (first != std::string_view::npos && text.substr(first).starts_with(kind.begin))
      refuse(kind.what, kind.advice);
  if (text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5 &&
      text.ends_with('.'))  // protocols, STOP
    refuse("is a pickle of Python that torch.save did not write (a pickle can execute anything)",
           "save the arrays in Python with torch.save or numpy.savez");
  if (text.size() > 262 && text.substr(257, 5) == "ustar") {
    const std::string_view first_file = text.substr(0, text.find('\0'));
    if (first_file == "sys_info" || first_file == "pickle" || first_file == "tensors" || first_file == "storages")
      refuse("is a file of torch.save of PyTorch 0.1 (a tar archive, which gpunet does not read)",
             "load it in Python with torch.load(path, weights_only=False), if you trust it, and save its "
             "state_dict anew");
    refuse("is a tar archive", "unpack it (tar xf)");
  }
  // Protocol buffers: field 1, the version of the format, then field 2, a text with the program's name.
  if (text.size() > 2 && text[0] == 8 && text[1] > 0 && text[2] == 0x12)
    refuse("is probably an ONNX model (gpunet reads arrays, not graphs)",
           "save the state_dict in Python with torch.save, or its initializers with numpy.savez");
}

}  // namespace gpunet::io::detail
