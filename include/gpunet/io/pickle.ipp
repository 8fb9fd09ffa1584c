// Bodies of pickle.hpp.
#pragma once

#include <bit>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include <gpunet/io/json.hpp>
#include <gpunet/io/pickle.hpp>

namespace gpunet::io::detail {

// Returns the whole text as a number; nothing if it is not one or T cannot hold it.
template <class T, class... Base>
std::optional<T> number_in(std::string_view text, Base... base) {
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base...);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// Returns an integer, which Python 2 may end with L; with booleans_too, "00" and "01" are False and
// True. Nothing if it is not one.
GPUNET_INLINE std::optional<PickleValue> integer_in(std::string_view text, bool booleans_too) {
  using Kind = PickleValue::Kind;
  if (booleans_too && (text == "00" || text == "01"))
    return PickleValue{.kind = Kind::boolean, .integer = text == "01"};
  if (!booleans_too && text.ends_with('L')) text.remove_suffix(1);
  if (const auto n = number_in<std::int64_t>(text))
    return PickleValue{.kind = Kind::integer, .integer = *n};
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return PickleValue{.kind = Kind::large};
}

// Returns the text of a string literal as repr() of Python 2 writes it: without quotation marks,
// escapes replaced. Nothing if it is not one.
GPUNET_INLINE std::optional<std::string> string_in_quotes(std::string_view text) {
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"') || text.back() != text[0])
    return std::nullopt;
  text = text.substr(1, text.size() - 2);
  constexpr std::string_view letters = "ntrabfv\\'\"", meant = "\n\t\r\a\b\f\v\\'\"";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (text[i] == 'x') {
      const auto code = number_in<unsigned char>(text.substr(i + 1, 2), 16);
      if (!code || text.size() - i < 3) return std::nullopt;
      out += static_cast<char>(*code);
      i += 2;
    } else if (const auto letter = letters.find(text[i]); letter != std::string_view::npos) {
      out += meant[letter];
    } else {
      return std::nullopt;
    }
  }
  return out;
}

// Returns the UTF-8 text for Python's raw-unicode-escape: \uXXXX, \UXXXXXXXX, and bytes of Latin-1.
// Nothing if it is not valid.
GPUNET_INLINE std::optional<std::string> unicode_in(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digits =
        !text.substr(i).starts_with("\\u") ? text.substr(i).starts_with("\\U") ? 8 : 0 : 4;
    if (digits == 0) {
      append_utf8(out, static_cast<unsigned char>(text[i]));
      continue;
    }
    const auto code = number_in<std::uint32_t>(text.substr(i + 2, digits), 16);
    if (!code || text.size() - i - 2 < digits || *code > 0x10FFFF) return std::nullopt;
    append_utf8(out, *code);
    i += 1 + digits;
  }
  return out;
}

// Opcodes of protocols 0 to 5, with the names of Python's pickletools.
enum class PickleOpcode : std::uint8_t {
  mark = '(',
  empty_tuple = ')',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  binbytes = 'B',
  short_binbytes = 'C',
  text_float = 'F',
  binfloat = 'G',
  text_int = 'I',
  binint = 'J',
  binint1 = 'K',
  text_long = 'L',
  binint2 = 'M',
  none = 'N',
  text_persid = 'P',
  binpersid = 'Q',
  reduce = 'R',
  text_string = 'S',
  binstring = 'T',
  short_binstring = 'U',
  text_unicode = 'V',
  binunicode = 'X',
  empty_list = ']',
  append = 'a',
  build = 'b',
  global = 'c',
  dict = 'd',
  appends = 'e',
  get = 'g',
  binget = 'h',
  inst = 'i',
  long_binget = 'j',
  list = 'l',
  obj = 'o',
  put = 'p',
  binput = 'q',
  long_binput = 'r',
  setitem = 's',
  tuple = 't',
  setitems = 'u',
  empty_dict = '}',
  proto = 0x80,  // protocol 2
  newobj,
  ext1,
  ext2,
  ext4,
  tuple1,
  tuple2,
  tuple3,
  newtrue,
  newfalse,
  long1,
  long4,
  short_binunicode = 0x8c,  // protocol 4
  binunicode8,
  binbytes8,
  empty_set,
  additems,
  frozenset,
  newobj_ex,
  stack_global,
  memoize,
  frame,
  bytearray8,  // protocol 5
  next_buffer,
  readonly_buffer
};

// Values under construction. Memory is limited by the number of bytes read, for any bytes: an
// opcode makes at most three values and copies no more items than were read.
class PickleStack {
 protected:
  using Kind = PickleValue::Kind;

  PickleStack(ByteReader& bytes, std::size_t most_values)
      : bytes_(bytes), most_values_(most_values) {}

  void begin_opcode() { begin_ = bytes_.position(); }

  // Throws Error for the byte at which the opcode starts.
  [[noreturn]] void fail(std::string_view what,
                         std::string_view advice = ByteReader::default_advice) {
    bytes_.back(bytes_.position() - begin_);
    bytes_.fail(what, advice);
  }

  std::uint32_t add(PickleValue value) {
    if (pickle_.values.size() >= most_values_)
      fail(concat("more than ", most_values_, " values (the most that gpunet reads here)"),
           "save less in one file");
    value.byte = bytes_.file_position() - (bytes_.position() - begin_);
    pickle_.values.push_back(std::move(value));
    return static_cast<std::uint32_t>(pickle_.values.size() - 1);
  }
  void push(PickleValue value) { stack_.push_back(add(std::move(value))); }
  // Pushes an existing value.
  void push_again(std::uint32_t value) { stack_.push_back(value); }

  std::uint32_t top() {
    if (stack_.empty() || pickle_.values[stack_.back()].kind == Kind::mark) fail("a missing value");
    return stack_.back();
  }
  std::uint32_t pop() {
    const std::uint32_t value = top();
    stack_.pop_back();
    return value;
  }
  // Pops the last n values and returns them in their order.
  std::vector<std::uint32_t> pop(std::size_t n) {
    std::vector<std::uint32_t> out(n);
    for (std::size_t i = n; i-- > 0;)
      out[i] = pop();
    return out;
  }
  std::vector<std::uint32_t> pop_to_mark() {
    std::size_t begin = stack_.size();
    while (begin > 0 && pickle_.values[stack_[begin - 1]].kind != Kind::mark)
      --begin;
    if (begin == 0) fail("expected a mark");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(begin);
    std::vector<std::uint32_t> out(first, stack_.end());
    stack_.erase(first - 1, stack_.end());
    return out;
  }
  // Pops the last value or mark.
  void drop() {
    if (stack_.empty()) fail("a missing value");
    stack_.pop_back();
  }

  // Adds items to the value at the top. An object that gets items becomes a dict or a list, for any
  // class.
  void extend(Kind kind, const std::vector<std::uint32_t>& items) {
    PickleValue& value = pickle_.values[top()];
    if (value.kind == Kind::object) value.kind = kind, value.items.clear();
    if (value.kind != kind) fail("items of something that has none");
    if (kind == Kind::dict && items.size() % 2 != 0) fail("a key without a value");
    if (kind != Kind::set) value.items.insert(value.items.end(), items.begin(), items.end());
  }

  // Returns the dict for the arguments of OrderedDict or Counter: nothing, a dict, or (in Python 2)
  // a list of pairs.
  PickleValue new_dict(std::uint32_t arguments) {
    PickleValue out{.kind = Kind::dict};
    if (pickle_[arguments].items.empty()) return out;
    const PickleValue& from = pickle_[pickle_[arguments].items[0]];
    // Copied items were read once: copying more than was read would let a small file allocate much
    // memory.
    copied_ += from.items.size();
    if (copied_ > bytes_.position()) fail("dicts made of the same values again and again");
    if (from.kind == Kind::dict) {
      out.items = from.items;
    } else if (from.kind == Kind::list) {
      for (const std::uint32_t pair : from.items) {
        const std::vector<std::uint32_t>& items = pickle_[pair].items;
        if (items.size() != 2) fail("a dict of something else than pairs");
        out.items.insert(out.items.end(), items.begin(), items.end());
      }
    } else {
      fail("a dict made of something else than a list or a dict");
    }
    return out;
  }

  // Stores the value at the top in the memo. Python counts from 0, so no number exceeds the number
  // of values.
  void remember(std::uint32_t number) {
    const std::uint32_t value = top();
    if (number > pickle_.values.size())
      fail(concat("the number ", number, " of the memo, which is too large"));
    if (number >= memo_.size()) memo_.resize(number + 1, unset);
    remembered_ += memo_[number] == unset;
    memo_[number] = value;
  }
  void remember_next() { remember(remembered_); }
  void recall(std::uint32_t number) {
    if (number >= memo_.size() || memo_[number] == unset)
      fail(concat("the number ", number, " of the memo, which was never set"));
    stack_.push_back(memo_[number]);
  }

  Pickle finish() {
    pickle_.root = pop();
    if (!stack_.empty()) fail("values that belong to nothing");
    return std::move(pickle_);
  }

  ByteReader& bytes_;
  Pickle pickle_;

 private:
  static constexpr std::uint32_t unset = ~std::uint32_t{0};
  std::size_t most_values_;
  std::vector<std::uint32_t> stack_, memo_;
  std::uint32_t remembered_ = 0;  // memo entries in use
  std::size_t begin_ = 0;         // of the opcode
  std::size_t copied_ = 0;        // items
};

// Executes the opcodes.
class PickleReader : private PickleStack {
 public:
  PickleReader(ByteReader& bytes, std::span<const std::string_view> globals, std::size_t most)
      : PickleStack(bytes, most), globals_(globals) {}

  Pickle read() {
    for (;;) {
      begin_opcode();
      const auto opcode =
          PickleOpcode{bytes_.number<std::uint8_t>("the next opcode of the pickle")};
      if (opcode == PickleOpcode::stop) return finish();
      step(opcode);
    }
  }

 private:
  void step(PickleOpcode opcode) {
    using enum PickleOpcode;
    switch (opcode) {
      case proto:
        if (const auto version = bytes_.number<std::uint8_t>("a version"); version > 5)
          fail(concat("a pickle of protocol ", version),
               "(gpunet reads 0 to 5), save it with pickle_protocol=2");
        return;
      case frame:
        if (const auto length = bytes_.number<std::uint64_t>("a length"); length > bytes_.left())
          fail(concat("a frame of ", length, " bytes where ", bytes_.left(), " are left"));
        return;

      case mark:
        return push({.kind = Kind::mark});
      case pop:
        return drop();
      case pop_mark:
        pop_to_mark();
        return;
      case dup:
        return push_again(top());

      case PickleOpcode::none:
        return push({});
      case newtrue:
      case newfalse:
        return push({.kind = Kind::boolean, .integer = opcode == newtrue});
      case binint:
        return push_integer(bytes_.number<std::int32_t>("an integer"));
      case binint1:
        return push_integer(bytes_.number<std::uint8_t>("an integer"));
      case binint2:
        return push_integer(bytes_.number<std::uint16_t>("an integer"));
      case long1:
        return push_long(bytes_.number<std::uint8_t>("a length"));
      case long4:
        return push_long(bytes_.number<std::uint32_t>("a length"));
      case text_int:  // Python 2 writes integers of more than 32 bits like this, in every protocol
      case text_long:
        return push_line(integer_in(bytes_.line("an integer"), opcode == text_int), "an integer");
      case binfloat:  // big-endian
        return push({.kind = Kind::real,
                     .real = std::bit_cast<double>(
                         __builtin_bswap64(bytes_.number<std::uint64_t>("a number")))});
      case text_float: {
        const auto real = number_in<double>(bytes_.line("a number"));
        return push_line(
            real ? std::optional(PickleValue{.kind = Kind::real, .real = *real}) : std::nullopt,
            "a number");
      }

      case binstring:  // Python 2's
      case binunicode:
        return push_text(Kind::string, bytes_.number<std::uint32_t>("a length"));
      case short_binstring:
      case short_binunicode:
        return push_text(Kind::string, bytes_.number<std::uint8_t>("a length"));
      case binunicode8:
        return push_text(Kind::string, bytes_.number<std::uint64_t>("a length"));
      case short_binbytes:
        return push_text(Kind::bytes, bytes_.number<std::uint8_t>("a length"));
      case binbytes:
        return push_text(Kind::bytes, bytes_.number<std::uint32_t>("a length"));
      case binbytes8:
      case bytearray8:
        return push_text(Kind::bytes, bytes_.number<std::uint64_t>("a length"));
      case text_string:
        return push_escaped(string_in_quotes(bytes_.line("a text")));
      case text_unicode:
        return push_escaped(unicode_in(bytes_.line("a text")));

      case empty_tuple:
        return push({.kind = Kind::tuple});
      case tuple1:
      case tuple2:
      case tuple3:
        return push({.kind = Kind::tuple,
                     .items = PickleStack::pop(static_cast<std::size_t>(opcode) -
                                               static_cast<std::size_t>(tuple1) + 1)});
      case tuple:
        return push({.kind = Kind::tuple, .items = pop_to_mark()});
      case empty_list:
        return push({.kind = Kind::list});
      case list:
        return push({.kind = Kind::list, .items = pop_to_mark()});
      case empty_dict:
        return push({.kind = Kind::dict});
      case dict: {
        const std::vector<std::uint32_t> items = pop_to_mark();
        push({.kind = Kind::dict});
        return extend(Kind::dict, items);
      }
      case empty_set:
        return push({.kind = Kind::set});
      case frozenset:
        pop_to_mark();
        return push({.kind = Kind::set});
      case append:
        return extend(Kind::list, PickleStack::pop(1));
      case appends:
        return extend(Kind::list, pop_to_mark());
      case setitem:
        return extend(Kind::dict, PickleStack::pop(2));
      case setitems:
        return extend(Kind::dict, pop_to_mark());
      case additems:
        return extend(Kind::set, pop_to_mark());

      case put:
        return remember(memo_number());
      case binput:
        return remember(bytes_.number<std::uint8_t>("a number of the memo"));
      case long_binput:
        return remember(bytes_.number<std::uint32_t>("a number of the memo"));
      case memoize:
        return remember_next();
      case get:
        return recall(memo_number());
      case binget:
        return recall(bytes_.number<std::uint8_t>("a number of the memo"));
      case long_binget:
        return recall(bytes_.number<std::uint32_t>("a number of the memo"));

      case global:
        return push_again(read_global());
      case stack_global: {
        const std::uint32_t name = PickleStack::pop(), module = PickleStack::pop();
        if (pickle_[module].kind != Kind::string || pickle_[name].kind != Kind::string)
          fail("a global whose name is no text");
        return push_again(add_global(pickle_[module].text, pickle_[name].text));
      }
      case newobj_ex:  // with keyword arguments, which only opaque objects have
        PickleStack::pop();
        [[fallthrough]];
      case newobj:
      case reduce: {
        const std::uint32_t arguments = PickleStack::pop(), function = PickleStack::pop();
        if (pickle_[arguments].kind != Kind::tuple) fail("a call without a tuple of arguments");
        return call(function, arguments);
      }
      case inst: {
        const std::uint32_t function = read_global();
        push({.kind = Kind::tuple, .items = pop_to_mark()});
        return call(function, PickleStack::pop());
      }
      case obj: {
        std::vector<std::uint32_t> items = pop_to_mark();
        if (items.empty()) fail("an object without a class");
        const std::uint32_t function = items[0];
        items.erase(items.begin());
        push({.kind = Kind::tuple, .items = std::move(items)});
        return call(function, PickleStack::pop());
      }
      case build: {  // sets attributes, which are not items: the _metadata of a state_dict
        PickleStack::pop();
        const Kind kind = pickle_[top()].kind;
        if (kind != Kind::dict && kind != Kind::list && kind != Kind::set && kind != Kind::call &&
            kind != Kind::object)
          fail("attributes of something that has none");
        return;
      }

      case binpersid: {
        const std::uint32_t id = PickleStack::pop();
        const std::vector<std::uint32_t>& parts = pickle_[id].items;
        // PyTorch before 1.6 saved the source of a module beside its class: ("module", class, path,
        // source).
        if (pickle_[id].kind == Kind::tuple && parts.size() > 1 &&
            pickle_[parts[0]].text == "module" && pickle_[parts[1]].kind == Kind::global)
          return push_again(parts[1]);
        return push({.kind = Kind::persistent, .items = {id}});
      }
      case text_persid:
        fail("the name of a storage as text, of protocol 0",
             "(which PyTorch itself cannot load), save it with pickle_protocol=2");
      case next_buffer:
      case readonly_buffer:
        fail("data outside the pickle, of protocol 5",
             "(which is not in the file), save it without buffer_callback");
      case ext1:
      case ext2:
      case ext4:
        fail("a number of copyreg's registry of extensions",
             "(which stands in the program that saved the file), save it without "
             "copyreg.add_extension");
      case stop:
        break;
    }
    fail(concat("the opcode ", static_cast<int>(opcode)),
         "(which no pickle has: the file is damaged), fetch or save it again");
  }

  void push_integer(std::int64_t n) { push({.kind = Kind::integer, .integer = n}); }
  void push_text(Kind kind, std::uint64_t length) {
    push({.kind = kind, .text = bytes_.text(length, "a text")});
  }
  void push_line(std::optional<PickleValue> value, std::string_view wanted) {
    if (!value) fail(concat("expected ", wanted));
    push(std::move(*value));
  }
  void push_escaped(std::optional<std::string> text) {
    if (!text) fail("a text with a wrong escape");
    push({.kind = Kind::string, .text = pickle_.texts.emplace_front(std::move(*text))});
  }

  // Reads an integer in two's complement, lowest byte first.
  void push_long(std::size_t length) {
    const auto digits = bytes_.take(length, "an integer");
    if (length > 8) return push({.kind = Kind::large});
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < length; ++i)
      n |= static_cast<std::uint64_t>(digits[i]) << 8 * i;
    if (length > 0 && length < 8 && (digits.back() & std::byte{0x80}) != std::byte{0})
      n |= ~std::uint64_t{0} << 8 * length;
    push_integer(static_cast<std::int64_t>(n));
  }

  std::uint32_t memo_number() {
    const auto number = number_in<std::uint32_t>(bytes_.line("a number of the memo"));
    if (!number) fail("expected a number of the memo");
    return *number;
  }

  std::uint32_t read_global() {
    const std::string_view module = bytes_.line("the module of a global"),
                           name = bytes_.line("the name of a global");
    return add_global(module, name);
  }
  std::uint32_t add_global(std::string_view module, std::string_view name) {
    for (const std::string_view known : globals_)
      if (known.size() == module.size() + 1 + name.size() && known.starts_with(module) &&
          known.ends_with(name) && known[module.size()] == '.')
        return add({.kind = Kind::global, .text = known});
    const std::uint32_t first = add({.kind = Kind::string, .text = module});
    return add({.kind = Kind::global, .items = {first, add({.kind = Kind::string, .text = name})}});
  }

  // Pushes the result of calling a class or function with the arguments.
  void call(std::uint32_t function, std::uint32_t arguments) {
    if (pickle_[function].is_opaque())
      return push({.kind = Kind::object, .items = {pickle_.global_of(function)}});
    if (pickle_[function].kind != Kind::global) fail("a call of something that is no global");
    const std::string_view name = pickle_[function].text;
    if (name == "collections.OrderedDict" || name == "collections.Counter")
      return push(new_dict(arguments));
    push({.kind = Kind::call, .text = name, .items = {arguments}});
  }

  std::span<const std::string_view> globals_;
};

GPUNET_INLINE Pickle read_pickle(ByteReader& bytes, std::span<const std::string_view> globals,
                                 std::size_t most) {
  return PickleReader(bytes, globals, most).read();
}

}  // namespace gpunet::io::detail
