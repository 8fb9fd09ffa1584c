// Python's pickles as data: nothing is imported, nothing is called.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/byte_reader.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/pickle_opcodes.hpp>
#include <gpunet/io/pickle_stack.hpp>
#include <gpunet/io/pickle_text.hpp>
#include <gpunet/io/pickle_value.hpp>

namespace gpunet::io::detail {

// Reads one pickle of protocol 0 to 5. What the globals among `globals` ("module.name") would make is a call, what all
// others would make is an opaque object: a name, and nothing else.
class PickleReader : private PickleStack {
 public:
  static constexpr std::size_t most_values = 1 << 28;

  PickleReader(ByteReader& bytes, std::span<const std::string_view> globals, std::size_t most = most_values)
      : PickleStack(bytes, most), globals_(globals) {}

  Pickle read() {
    for (;;) {
      begin_opcode();
      const auto opcode = PickleOpcode{bytes_.number<std::uint8_t>("the next opcode of the pickle")};
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
          fail(concat("a pickle of protocol ", version), "(gpunet reads 0 to 5), save it with pickle_protocol=2");
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
      case text_int:  // Python 2 writes what takes more than 32 bits like this, in every protocol
      case text_long:
        return push_line(integer_in(bytes_.line("an integer"), opcode == text_int), "no integer");
      case binfloat:  // big-endian
        return push({.kind = Kind::real,
                     .real = std::bit_cast<double>(__builtin_bswap64(bytes_.number<std::uint64_t>("a number")))});
      case text_float: {
        const auto real = number_in<double>(bytes_.line("a number"));
        return push_line(real ? std::optional(PickleValue{.kind = Kind::real, .real = *real}) : std::nullopt,
                         "no number");
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
        return push(
            {.kind = Kind::tuple,
             .items = PickleStack::pop(static_cast<std::size_t>(opcode) - static_cast<std::size_t>(tuple1) + 1)});
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
      case newobj_ex:  // with named arguments, which only an object of its own takes
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
      case build: {  // sets attributes; of a dict these are none of its items, as the _metadata of a state_dict
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
        // PyTorch before 1.6 saved the source of a module beside its class: ("module", class, path, source).
        if (pickle_[id].kind == Kind::tuple && parts.size() > 1 && pickle_[parts[0]].text == "module" &&
            pickle_[parts[1]].kind == Kind::global)
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
             "(which stands in the program that saved the file), save it without copyreg.add_extension");
      case stop:
        break;
    }
    fail(concat("the opcode ", static_cast<int>(opcode)),
         "(which no pickle has: the file is damaged), fetch or save it again");
  }

  void push_integer(std::int64_t n) { push({.kind = Kind::integer, .integer = n}); }
  void push_text(Kind kind, std::uint64_t length) { push({.kind = kind, .text = bytes_.text(length, "a text")}); }
  void push_line(std::optional<PickleValue> value, std::string_view problem) {
    if (!value) fail(concat(problem, " where one is wanted"));
    push(std::move(*value));
  }
  void push_escaped(std::optional<std::string> text) {
    if (!text) fail("a text with a wrong escape");
    push({.kind = Kind::string, .text = pickle_.texts.emplace_front(std::move(*text))});
  }

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

  std::uint32_t memo_number() {
    const auto number = number_in<std::uint32_t>(bytes_.line("a number of the memo"));
    if (!number) fail("no number of the memo where one is wanted");
    return *number;
  }

  std::uint32_t read_global() {
    const std::string_view module = bytes_.line("the module of a global"),
                           name = bytes_.line("the name of a global");
    return add_global(module, name);
  }
  std::uint32_t add_global(std::string_view module, std::string_view name) {
    for (const std::string_view known : globals_)
      if (known.size() == module.size() + 1 + name.size() && known.starts_with(module) && known.ends_with(name) &&
          known[module.size()] == '.')
        return add({.kind = Kind::global, .text = known});
    const std::uint32_t first = add({.kind = Kind::string, .text = module});
    return add({.kind = Kind::global, .items = {first, add({.kind = Kind::string, .text = name})}});
  }

  // What a class or function would make of the arguments.
  void call(std::uint32_t function, std::uint32_t arguments) {
    if (pickle_[function].is_opaque()) return push({.kind = Kind::object, .items = {pickle_.global_of(function)}});
    if (pickle_[function].kind != Kind::global) fail("a call of something that is no global");
    const std::string_view name = pickle_[function].text;
    if (name == "collections.OrderedDict" || name == "collections.Counter") return push(new_dict(arguments));
    push({.kind = Kind::call, .text = name, .items = {arguments}});
  }

  std::span<const std::string_view> globals_;
};

}  // namespace gpunet::io::detail
