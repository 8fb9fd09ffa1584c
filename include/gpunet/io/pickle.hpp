// Reads and writes Python's pickles as data: nothing is imported, nothing is called.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/error.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/io/binary.hpp>

namespace gpunet::io::detail {

// A value of a pickle. Values that it contains are indices into the pickle: they may be shared, and
// may contain each other. Texts borrow from the pickle.
struct PickleValue {
  enum class Kind : unsigned char {
    none,
    boolean,  // integer
    integer,  // integer
    real,     // real
    large,    // an integer of more than 64 bits; its value is not stored
    string,   // text; from Python 2 any bytes, not only UTF-8
    bytes,    // text
    tuple,    // items
    list,     // items
    dict,     // items: key, value, key, value, ...; OrderedDict and Counter too
    set,      // its items are not stored
    global,   // text: "module.name" if known; else items: two strings, module and name
    // text: "module.name" of a known global that Python would call; items: the tuple of arguments.
    call,
    object,      // the result of an unknown global; items: that global
    persistent,  // items: the tuple that names something outside the pickle
    mark         // not a value: only on the reader's stack
  };
  Kind kind = Kind::none;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text = {};
  std::vector<std::uint32_t> items = {};
  std::size_t byte = 0;  // of the file, for messages

  // Returns whether the value depends on a class or function that gpunet does not know. Then only
  // the name of that is known.
  bool is_opaque() const { return kind == Kind::object || (kind == Kind::global && text.empty()); }
};

// All values of one pickle.
struct Pickle {
  std::deque<PickleValue> values;        // grows without a copy
  std::forward_list<std::string> texts;  // texts that differ from their bytes in the file
  std::uint32_t root = 0;

  const PickleValue& operator[](std::uint32_t i) const { return values[i]; }

  // Returns the global that makes an opaque value; a global itself is returned unchanged.
  std::uint32_t global_of(std::uint32_t i) const {
    return values[i].kind == PickleValue::Kind::object ? values[i].items[0] : i;
  }
  // Returns "module.name" of a global, or of the global that makes an opaque value; "?" for all
  // others.
  std::string global_name(std::uint32_t i) const {
    const PickleValue& global = values[global_of(i)];
    if (global.kind != PickleValue::Kind::global) return "?";
    if (!global.text.empty()) return std::string(global.text);
    return concat(values[global.items[0]].text, '.', values[global.items[1]].text);
  }
};

inline constexpr std::size_t most_pickle_values = 1 << 28;

// Reads one pickle of protocol 0 to 5. Results of the globals in `globals` ("module.name") become
// calls, results of all others opaque objects: only their name is stored. Throws Error, also for
// more than `most` values.
Pickle read_pickle(ByteReader& bytes, std::span<const std::string_view> globals,
                   std::size_t most = most_pickle_values);

// Writes a pickle of protocol 2, value by value. Letters are opcodes (Python's pickletools
// describes them).
class PickleWriter {
 public:
  PickleWriter& opcodes(std::string_view letters) {
    text_ += letters;
    return *this;
  }
  PickleWriter& string(std::string_view text) {
    text_ += 'X';
    append_number(text_, static_cast<std::uint32_t>(text.size()));
    text_ += text;
    return *this;
  }
  // n >= 0.
  PickleWriter& integer(index_t n) {
    if (n <= std::numeric_limits<std::int32_t>::max()) {
      text_ += 'J';
      append_number(text_, static_cast<std::uint32_t>(n));
    } else {
      text_ += "\x8a\x08";  // of 8 bytes
      append_number(text_, static_cast<std::uint64_t>(n));
    }
    return *this;
  }
  PickleWriter& real(double x) {
    text_ += 'G';
    append_number(text_, __builtin_bswap64(std::bit_cast<std::uint64_t>(x)));
    return *this;
  }
  PickleWriter& boolean(bool x) { return opcodes(x ? "\x88" : "\x89"); }
  PickleWriter& tuple(const Sizes& numbers) {
    text_ += '(';
    for (const index_t n : numbers)
      integer(n);
    text_ += 't';
    return *this;
  }
  // "module.name"
  PickleWriter& global(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    text_ += concat('c', name.substr(0, dot), '\n', name.substr(dot + 1), '\n');
    return *this;
  }
  PickleWriter& ordered_dict() { return global("collections.OrderedDict").opcodes(")R"); }

  const std::string& text() const { return text_; }

 private:
  std::string text_ = "\x80\2";
};

}  // namespace gpunet::io::detail

#if !GPUNET_COMPILED
#include <gpunet/io/pickle.ipp>
#endif
