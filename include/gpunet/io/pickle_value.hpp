// What a pickle holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gpunet::io::detail {

// A value of a pickle. Those inside it are named by their number in the pickle: they may be shared, and be inside
// themselves. Texts borrow from the pickle.
struct PickleValue {
  enum class Kind : unsigned char {
    none,
    boolean,     // integer
    integer,     // integer
    real,        // real
    large,       // an integer of more than 64 bits, which nobody needs
    string,      // text; of Python 2 any bytes, not only UTF-8
    tuple,       // items
    list,        // items
    dict,        // items: key, value, key, value, ...; OrderedDict and Counter too
    global,      // text: "module.name"
    call,        // text: "module.name" of what Python would call; items: the tuple of arguments
    persistent,  // items: the tuple that names something outside the pickle
    mark         // not a value: on the reader's stack only
  };
  Kind kind = Kind::none;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text = {};
  std::vector<std::uint32_t> items = {};
  std::size_t byte = 0;  // of the file, for messages
};

// The values of a pickle.
struct Pickle {
  std::vector<PickleValue> values;
  std::uint32_t root = 0;

  const PickleValue& operator[](std::uint32_t i) const { return values[i]; }
};

}  // namespace gpunet::io::detail
