// The values of a pickle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>

namespace gpunet::io::detail {

// A value of a pickle. Values inside it are indices into the pickle: they may be shared, and may contain each other.
// Texts borrow from the pickle.
struct PickleValue {
  enum class Kind : unsigned char {
    none,
    boolean,     // integer
    integer,     // integer
    real,        // real
    large,       // an integer of more than 64 bits; its value is not kept
    string,      // text; of Python 2 any bytes, not only UTF-8
    bytes,       // text
    tuple,       // items
    list,        // items
    dict,        // items: key, value, key, value, ...; OrderedDict and Counter too
    set,         // its items are not kept
    global,      // text: "module.name" of a known one; else items: two strings, the module and the name
    call,        // text: "module.name" of a known global that Python would call; items: the tuple of arguments
    object,      // what an unknown global would make; items: that global
    persistent,  // items: the tuple that names something outside the pickle
    mark         // not a value: on the reader's stack only
  };
  Kind kind = Kind::none;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text = {};
  std::vector<std::uint32_t> items = {};
  std::size_t byte = 0;  // of the file, for messages

  // Whether a class or function is needed for it that gpunet does not know. Nothing but its name is known then.
  bool is_opaque() const { return kind == Kind::object || (kind == Kind::global && text.empty()); }
};

// All values of one pickle.
struct Pickle {
  std::deque<PickleValue> values;        // grows without a copy
  std::forward_list<std::string> texts;  // those that are not in the file as they are
  std::uint32_t root = 0;

  const PickleValue& operator[](std::uint32_t i) const { return values[i]; }

  // Of an opaque value the global that makes it, of a global itself.
  std::uint32_t global_of(std::uint32_t i) const {
    return values[i].kind == PickleValue::Kind::object ? values[i].items[0] : i;
  }
  // "module.name" of a global or of what one makes; "?" for all others.
  std::string global_name(std::uint32_t i) const {
    const PickleValue& global = values[global_of(i)];
    if (global.kind != PickleValue::Kind::global) return "?";
    if (!global.text.empty()) return std::string(global.text);
    return concat(values[global.items[0]].text, '.', values[global.items[1]].text);
  }
};

}  // namespace gpunet::io::detail
