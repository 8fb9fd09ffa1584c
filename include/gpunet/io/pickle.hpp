// Python's pickles as data: nothing is imported, nothing is called.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/byte_reader.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/pickle_value.hpp>

namespace gpunet::io::detail {

// Reads one pickle of protocol 2 with the opcodes that torch.save writes (Python's pickletools describes them). Every
// other opcode, and every global that is not among `globals` ("module.name"), is an Error.
class PickleReader {
 public:
  PickleReader(ByteReader& bytes, std::span<const std::string_view> globals) : bytes_(bytes), globals_(globals) {}

  Pickle read() {
    if (bytes_.number<std::uint8_t>("a pickle") != proto)
      bytes_.back(1), bytes_.fail("no pickle where one is wanted");
    if (const auto version = bytes_.number<std::uint8_t>("a version"); version != 2)
      bytes_.fail(concat("a pickle of protocol ", version),
                  "(torch.save writes protocol 2), save it without pickle_protocol");
    for (;;) {
      const auto opcode = bytes_.number<std::uint8_t>("the next opcode of the pickle");
      begin_ = bytes_.position() - 1;
      if (opcode == stop) break;
      step(opcode);
    }
    pickle_.root = pop();
    if (!stack_.empty()) fail("values that belong to nothing");
    return std::move(pickle_);
  }

 private:
  using Kind = PickleValue::Kind;
  enum Opcode : std::uint8_t {
    mark = '(',
    stop = '.',
    binfloat = 'G',
    binint = 'J',
    binint1 = 'K',
    binint2 = 'M',
    none = 'N',
    binpersid = 'Q',
    reduce = 'R',
    binstring = 'T',
    short_binstring = 'U',
    binunicode = 'X',
    empty_list = ']',
    append = 'a',
    build = 'b',
    global = 'c',
    appends = 'e',
    binget = 'h',
    long_binget = 'j',
    binput = 'q',
    long_binput = 'r',
    setitem = 's',
    tuple = 't',
    setitems = 'u',
    empty_dict = '}',
    empty_tuple = ')',
    proto = 0x80,
    tuple1 = 0x85,
    tuple2,
    tuple3,
    newtrue,
    newfalse,
    long1,
    long4
  };

  void step(std::uint8_t opcode) {
    switch (opcode) {
      case mark:
        return push({.kind = Kind::mark});
      case none:
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
      case binfloat:  // big-endian
        return push({.kind = Kind::real,
                     .real = std::bit_cast<double>(__builtin_bswap64(bytes_.number<std::uint64_t>("a number")))});
      case binunicode:
      case binstring:  // Python 2's
        return push_string(bytes_.number<std::uint32_t>("a length"));
      case short_binstring:
        return push_string(bytes_.number<std::uint8_t>("a length"));
      case empty_tuple:
        return push({.kind = Kind::tuple});
      case tuple1:
      case tuple2:
      case tuple3:
        return push({.kind = Kind::tuple, .items = pop(static_cast<std::size_t>(opcode - tuple1 + 1))});
      case tuple:
        return push({.kind = Kind::tuple, .items = pop_to_mark()});
      case empty_list:
        return push({.kind = Kind::list});
      case empty_dict:
        return push({.kind = Kind::dict});
      case append:
        return extend(Kind::list, pop(1));
      case appends:
        return extend(Kind::list, pop_to_mark());
      case setitem:
        return extend(Kind::dict, pop(2));
      case setitems:
        return extend(Kind::dict, pop_to_mark());
      case binput:
        return remember(bytes_.number<std::uint8_t>("a number of the memo"));
      case long_binput:
        return remember(bytes_.number<std::uint32_t>("a number of the memo"));
      case binget:
        return recall(bytes_.number<std::uint8_t>("a number of the memo"));
      case long_binget:
        return recall(bytes_.number<std::uint32_t>("a number of the memo"));
      case global:
        return push_global();
      case reduce:
        return call();
      case build: {  // sets attributes; of a dict these are none of its items, as the _metadata of a state_dict
        pop();
        if (pickle_.values[top()].kind != Kind::dict) fail("attributes of something that is no dict");
        return;
      }
      case binpersid:
        return push({.kind = Kind::persistent, .items = pop(1)});
      default:
        fail(concat("the opcode ", opcode),
             "(only those of plain data and tensors are read, nothing is executed), "
             "save the state_dict with torch.save");
    }
  }

  // Puts the position back to the beginning of the opcode.
  [[noreturn]] void fail(std::string_view what, std::string_view advice = ByteReader::default_advice) {
    bytes_.back(bytes_.position() - begin_);
    bytes_.fail(what, advice);
  }

  void push(PickleValue value) {
    constexpr std::size_t most = 1 << 28;
    if (pickle_.values.size() == most)
      fail(concat("more than ", most, " values (the most that gpunet reads)"), "save less in one file");
    value.byte = bytes_.file_position() - (bytes_.position() - begin_);
    stack_.push_back(static_cast<std::uint32_t>(pickle_.values.size()));
    pickle_.values.push_back(std::move(value));
  }
  void push_integer(std::int64_t n) { push({.kind = Kind::integer, .integer = n}); }
  void push_string(std::size_t length) { push({.kind = Kind::string, .text = bytes_.text(length, "a text")}); }

  // In two's complement, the lowest byte first.
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

  void push_global() {
    const std::string_view module = bytes_.line("the module of a global"),
                           name = bytes_.line("the name of a global");
    for (const std::string_view known : globals_)
      if (known.size() == module.size() + 1 + name.size() && known.starts_with(module) && known.ends_with(name) &&
          known[module.size()] == '.')
        return push({.kind = Kind::global, .text = known});
    const std::string full_name = concat('"', printable(module), '.', printable(name), '"');
    constexpr std::string_view why = "(gpunet reads tensors and plain data, and imports or executes nothing)";
    const bool of_numpy = module.starts_with("numpy");
    if (stack_.empty() && module != "collections" && !of_numpy)
      fail(concat("a whole object, of the global ", full_name),
           concat(why, ", save its state_dict in Python: torch.save(net.state_dict(), path)"));
    const bool behind_text = !stack_.empty() && pickle_.values[stack_.back()].kind == Kind::string;
    fail(concat(
             "the global ", full_name,
             behind_text ? concat(" behind the text \"", printable(pickle_.values[stack_.back()].text), '"') : ""),
         concat(
             why, ", save what you need without it, in Python: ",
             of_numpy ? "numpy.savez(path, **arrays), or torch.save of tensors" : "torch.save(dict(what), path)"));
  }

  void call() {
    const std::uint32_t arguments = pop(), function = pop();
    if (pickle_[arguments].kind != Kind::tuple) fail("a call without a tuple of arguments");
    if (pickle_[function].kind != Kind::global) fail("a call of something that is no global");
    const std::string_view name = pickle_[function].text;
    if (name == "collections.OrderedDict" || name == "collections.Counter") return push(new_dict(arguments));
    push({.kind = Kind::call, .text = name, .items = {arguments}});
  }

  // From the arguments of OrderedDict or Counter: nothing, a dict, or (in Python 2) a list of pairs.
  PickleValue new_dict(std::uint32_t arguments) {
    PickleValue out{.kind = Kind::dict};
    if (pickle_[arguments].items.empty()) return out;
    const PickleValue& from = pickle_[pickle_[arguments].items[0]];
    // Whatever is copied was read once: more of it is a small file that wants to become a large one.
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

  std::uint32_t top() {
    if (stack_.empty() || pickle_.values[stack_.back()].kind == Kind::mark) fail("a value that is not there");
    return stack_.back();
  }
  std::uint32_t pop() {
    const std::uint32_t value = top();
    stack_.pop_back();
    return value;
  }
  // The last n values, in their order.
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
    if (begin == 0) fail("no mark where one is wanted");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(begin);
    std::vector<std::uint32_t> out(first, stack_.end());
    stack_.erase(first - 1, stack_.end());
    return out;
  }

  void extend(Kind kind, const std::vector<std::uint32_t>& items) {
    PickleValue& value = pickle_.values[top()];
    if (value.kind != kind) fail("items of something that has none");
    if (kind == Kind::dict && items.size() % 2 != 0) fail("a key without a value");
    value.items.insert(value.items.end(), items.begin(), items.end());
  }

  // Python numbers what it remembers from 0 on, so that no number is larger than there are values.
  void remember(std::uint32_t number) {
    const std::uint32_t value = top();
    if (number > pickle_.values.size()) fail(concat("the number ", number, " of the memo, which is too large"));
    if (number >= memo_.size()) memo_.resize(number + 1, unset);
    memo_[number] = value;
  }
  void recall(std::uint32_t number) {
    if (number >= memo_.size() || memo_[number] == unset)
      fail(concat("the number ", number, " of the memo, which was never set"));
    stack_.push_back(memo_[number]);
  }

  ByteReader& bytes_;
  std::span<const std::string_view> globals_;
  Pickle pickle_;
  std::vector<std::uint32_t> stack_;
  static constexpr std::uint32_t unset = ~std::uint32_t{0};
  std::vector<std::uint32_t> memo_;
  std::size_t begin_ = 0;   // of the opcode
  std::size_t copied_ = 0;  // items
};

}  // namespace gpunet::io::detail
