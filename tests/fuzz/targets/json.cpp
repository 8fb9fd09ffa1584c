// JSON, as far as headers of files need it.
#include <gpunet/io/json.hpp>

#include "fuzz.hpp"

namespace {

using gpunet::io::detail::JsonReader;

// Reads an object whose keys say what their values are: a... arrays, s... strings, others objects;
// numbers at the bottom.
void read_value(JsonReader& json, int depth) {
  if (depth == 0) {
    json.integer();
    return;
  }
  json.object([&](const std::string& key) {
    fuzz::ensure(gpunet::io::detail::is_utf8(key), "a key that is not UTF-8");
    if (key.starts_with('a'))
      json.array([&] { read_value(json, depth - 1); });
    else if (key.starts_with('s'))
      json.string();
    else
      read_value(json, depth - 1);
  });
}

const fuzz::Register json(
    {"json",
     [](fuzz::Bytes bytes) {
       const std::string_view text = fuzz::text_of(bytes);
       if (gpunet::io::detail::is_utf8(text)) {  // what is written is read again
         const std::string written = gpunet::io::detail::json_string(text);
         JsonReader reader(written, "gpunet::io: the string", 0);
         const std::string again = reader.string();
         reader.finish();
         fuzz::ensure(again == text, "a string that is read as another one");
       }
       const std::string shown = gpunet::io::detail::printable(text);
       fuzz::ensure(shown.size() <= 2000, "an endless text in a message");
       JsonReader reader(text, "gpunet::io: the text", 8);
       read_value(reader, 3);
       reader.finish();
     },
     [] {
       return std::vector<std::string>{
           "{}",
           R"({"a": [], "s": "\u00e9\ud83d\ude00\n", "o": {"a": [{"n": 0}, {"n": 9223372036854775807}]}})"};
     }});

}  // namespace
