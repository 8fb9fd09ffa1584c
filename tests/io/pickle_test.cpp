#include <array>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <gpunet/io/pickle.hpp>

#include "corpus.hpp"

using namespace gpunet;
using io::detail::ByteReader;
using io::detail::Pickle;
using io::detail::PickleValue;
using Kind = PickleValue::Kind;
using namespace std::string_literals;

namespace {

constexpr std::array<std::string_view, 3> known{"collections.OrderedDict", "torch._utils._rebuild",
                                                "torch.Size"};

// The result of look() for the pickle of protocol 2 with these opcodes and STOP, from which its
// texts borrow.
template <class Look>
auto look_at(const std::string& opcodes, Look look) {
  const std::string text = "\x80\2" + opcodes + ".";
  ByteReader bytes(std::as_bytes(std::span(text)), "file");
  Pickle pickle = read_pickle(bytes, known);
  CHECK(bytes.left() == 0);
  return look(pickle);
}

// The same pickle, and its root, without texts.
Pickle read(const std::string& opcodes) {
  return look_at(opcodes, [](Pickle& pickle) {
    for (auto& value : pickle.values)
      value.text = {};
    return std::move(pickle);
  });
}
PickleValue root_of(const std::string& opcodes) {
  Pickle pickle = read(opcodes);
  return std::move(pickle.values[pickle.root]);
}

std::string error_in(const std::string& opcodes) {
  return error_of([&] { read(opcodes); });
}

}  // namespace

TEST_CASE("values are read as Python writes them") {
  const auto integer = [](const std::string& opcodes) {
    const Pickle pickle = read(opcodes);
    CHECK((pickle[pickle.root].kind == Kind::integer));
    return pickle[pickle.root].integer;
  };
  CHECK(integer("K\xFF") == 255);
  CHECK(integer("M\xFF\xFF") == 65535);
  CHECK(integer("J\xFF\xFF\xFF\xFF") == -1);
  CHECK(integer("\x8a\0"s) == 0);
  CHECK(integer("\x8a\1\xFF"s) == -1);
  CHECK(integer("\x8a\2\xFF\0"s) == 255);
  CHECK(integer("\x8a\6\0\0\0\0\0\1"s) == std::int64_t{1} << 40);
  CHECK(integer("\x8a\x08\0\0\0\0\0\0\0\x80"s) == std::numeric_limits<std::int64_t>::min());
  // What takes more than 64 bits is kept, though not its value.
  for (const std::string& large :
       {"\x8a\x09\0\0\0\0\0\0\0\x80\0"s, "\x8b\x2c\1\0\0"s + std::string(300, '\1')}) {
    const Pickle pickle = read(large);
    CHECK((pickle[pickle.root].kind == Kind::large));
  }
  CHECK(integer("\x8b\2\0\0\0\xFF\0"s) == 255);
  CHECK((read("X\1\0\0\0\xFF"s).values[0].kind == Kind::string));  // bytes of Python 2
  const Pickle real = read("G?\xf8\0\0\0\0\0\0"s);
  CHECK(real[real.root].real == 1.5);
  const Pickle yes = read("\x88");
  CHECK((yes[yes.root].kind == Kind::boolean && yes[yes.root].integer == 1));
  const Pickle none = read("N");
  CHECK((none[none.root].kind == Kind::none));
}

TEST_CASE("containers, shared values and calls") {
  // {"a": [1, 2], 3: (4, 5, 6)} by the opcodes for many and for one.
  const Pickle dict = read("}q\0(X\1\0\0\0a](K\1K\2eK\3K\4K\5K\6\x87u"s);
  const auto& items = dict[dict.root].items;
  REQUIRE((dict[dict.root].kind == Kind::dict && items.size() == 4));
  CHECK((dict[items[1]].kind == Kind::list && dict[items[1]].items.size() == 2));
  CHECK((dict[items[3]].kind == Kind::tuple && dict[dict[items[3]].items[2]].integer == 6));
  CHECK(read("]K\1a"s).values[0].items.size() == 1);
  CHECK(read("}X\1\0\0\0aK\1s"s).values[0].items.size() == 2);

  // [x, x] with one x.
  const Pickle shared = read("]q\0(]r\1\0\0\0j\1\0\0\0e"s);
  const auto& twice = shared[shared.root].items;
  REQUIRE(twice.size() == 2);
  CHECK(twice[0] == twice[1]);

  const Pickle call = read("ctorch._utils\n_rebuild\n(K\1K\2tR");
  CHECK((call[call.root].kind == Kind::call));
  CHECK(call[call[call.root].items[0]].items.size() == 2);
  const Pickle persistent = read("(X\1\0\0\0atQ"s);
  CHECK((persistent[persistent.root].kind == Kind::persistent));

  // OrderedDict() whose items follow, with attributes; and as Python 2 wrote it,
  // OrderedDict([["a", 1]]).
  const Pickle ordered = read("ccollections\nOrderedDict\n)R(X\1\0\0\0aK\1u}b"s);
  CHECK((ordered[ordered.root].kind == Kind::dict && ordered[ordered.root].items.size() == 2));
  const Pickle old = read("ccollections\nOrderedDict\n(](](U\1aK\1eetR"s);
  CHECK((old[old.root].kind == Kind::dict && old[old.root].items.size() == 2));
}

TEST_CASE("numbers and texts as lines: Python 2's integers, and protocol 0") {
  const auto integer = [](const std::string& opcodes) {
    const PickleValue out = root_of(opcodes);
    CHECK((out.kind == Kind::integer));
    return out.integer;
  };
  CHECK(integer("I1099511627776\n") == std::int64_t{1} << 40);
  CHECK(integer("I-7\n") == -7);
  CHECK(integer("I9223372036854775807\n") == std::numeric_limits<std::int64_t>::max());
  CHECK(integer("L12L\n") == 12);
  CHECK(integer("L-12\n") == -12);
  CHECK(integer("L01L\n") == 1);
  for (const char* large : {"I9223372036854775808\n", "L-9223372036854775809L\n"})
    CHECK((root_of(large).kind == Kind::large));
  CHECK((root_of("I01\n").kind == Kind::boolean && root_of("I01\n").integer == 1 &&
         root_of("I00\n").integer == 0));
  CHECK(root_of("F1.5\n").real == 1.5);
  CHECK(root_of("F-inf\n").real == -std::numeric_limits<double>::infinity());
  for (const char* wrong :
       {"I\n", "Ix\n", "I1x\n", "I1L\n", "L-L\n", "I--1\n", "F\n", "F1,5\n", "I 1\n"}) {
    CAPTURE(wrong);
    CHECK(contains(error_in(wrong), "expected a"));
  }
  CHECK(contains(error_in("I1"), "an integer without an end"));

  const auto text = [](const std::string& opcodes) {
    return look_at(opcodes, [](const Pickle& pickle) {
      CHECK((pickle[pickle.root].kind == Kind::string));
      return std::string(pickle[pickle.root].text);
    });
  };
  CHECK(text("S'plain'\n") == "plain");
  CHECK(text("S\"it's\"\n") == "it's");
  CHECK(text("S'a\\n\\x00\\\\\\''\n") == "a\n\0\\'"s);
  CHECK(text("Vcaf\xe9\n") == "caf\u00e9");
  CHECK(text("Va\\u000a\\u20ac\\U0001f600\\n\n") == "a\n\u20ac\U0001f600\\n");
  for (const char* wrong : {"S\n", "S'\n", "Sx\n", "S'a\"\n", "S'\\'\n", "S'\\x1'\n", "S'\\q'\n",
                            "V\\u12\n", "V\\U00110000\n", "V\\u00g0\n"}) {
    CAPTURE(wrong);
    CHECK(contains(error_in(wrong), "a text with a wrong escape"));
  }

  // As protocol 0 writes {"a": [1, 2], "b": (3,)}, with the memo in text.
  const Pickle dict = read("(dp0\nVa\np1\n(lp2\nI1\naI2\nasVb\n(I3\ntp3\ns");
  const auto& items = dict[dict.root].items;
  REQUIRE((dict[dict.root].kind == Kind::dict && items.size() == 4));
  CHECK((dict[items[1]].kind == Kind::list && dict[items[1]].items.size() == 2));
  CHECK((dict[items[3]].kind == Kind::tuple && dict[items[3]].items.size() == 1));
  CHECK(read("(I1\nI2\nl").values.size() == 4);  // mark, 1, 2 and the list
  CHECK(read("]p1\nI1\na0]p0\ng1\na").values.size() == 3);
  CHECK(contains(error_in("p0\n"), "a missing value"));
  CHECK(contains(error_in("g5\n"), "the number 5 of the memo, which was never set"));
  CHECK(contains(error_in("gx\n"), "expected a number of the memo"));
  CHECK(contains(error_in("P1\n"),
                 "which PyTorch itself cannot load), save it with pickle_protocol=2"));
}

TEST_CASE(
    "protocols 3 to 5: frames, short texts, bytes, sets, the numbered memo, globals from the "
    "stack") {
  CHECK((root_of("\x8c\1a").kind == Kind::string));
  CHECK((root_of("\x8d\1\0\0\0\0\0\0\0a"s).kind == Kind::string));
  for (const std::string& bytes :
       {"C\1a"s, "B\1\0\0\0a"s, "\x8e\1\0\0\0\0\0\0\0a"s, "\x96\1\0\0\0\0\0\0\0a"s})
    CHECK((root_of(bytes).kind == Kind::bytes));
  CHECK((root_of("\x8f(K\1K\2\x90").kind == Kind::set));
  CHECK((root_of("(K\1K\2\x91").kind == Kind::set));
  const Pickle twice = read("\x95\x09\0\0\0\0\0\0\0](]\x94\x8c\1a\x94h\0h\1e"s);
  REQUIRE(twice[twice.root].items.size() == 4);
  CHECK(twice[twice.root].items[0] == twice[twice.root].items[2]);
  CHECK(twice[twice.root].items[1] == twice[twice.root].items[3]);
  CHECK((root_of("\x8c\x0b"
                 "collections\x8c\x0bOrderedDict\x93)R")
             .kind == Kind::dict));
  CHECK((root_of("\x8c\5torch\x8c\4Size\x93)\x81").kind == Kind::call));
  CHECK((root_of("\x8c\5torch\x8c\4Size\x93)}\x92").kind == Kind::call));
  CHECK(root_of("K\1K\2"
                "0")
            .integer == 1);
  CHECK(root_of("K\1(0").integer == 1);
  CHECK(root_of("K\1(K\2"
                "1")
            .integer == 1);
  CHECK(root_of("K\1"
                "2\x86")
            .items.size() == 2);
  for (int protocol = 0; protocol <= 6; ++protocol) {
    const std::string whole = "\x80" + std::string(1, static_cast<char>(protocol)) + "N.";
    ByteReader bytes(std::as_bytes(std::span(whole)), "file");
    const std::string error = error_of([&] { read_pickle(bytes, known); });
    CHECK(error ==
          (protocol < 6
               ? ""
               : "file, byte 0: a pickle of protocol 6 (gpunet reads 0 to 5), save it with "
                 "pickle_protocol=2"));
  }
  CHECK(contains(error_in("\x95\xFF\0\0\0\0\0\0\0N"s), "a frame of 255 bytes where 2 are left"));
  CHECK(contains(error_in("\x8d\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
                 "a text of 18446744073709551615 bytes"));
  CHECK(contains(error_in("K\1K\2\x93"), "a global whose name is no text"));
  CHECK(contains(error_in("\x97"),
                 "data outside the pickle, of protocol 5 (which is not in the file)"));
  CHECK(contains(error_in("N\x98"), "save it without buffer_callback"));
  CHECK(contains(error_in("\x82\1"), "a number of copyreg's registry of extensions"));
}

TEST_CASE(
    "what an unknown class or function would make is opaque: a name, and nothing is imported or "
    "executed") {
  const auto name = [](const std::string& opcodes) {
    return look_at(opcodes, [](const Pickle& pickle) {
      CHECK(pickle[pickle.root].is_opaque());
      return pickle.global_name(pickle.root);
    });
  };
  // What os.system("true") looks like, by each of the opcodes that call.
  CHECK(name("cposix\nsystem\nX\4\0\0\0true\x85R"s) == "posix.system");
  CHECK(name("\x8c\5posix\x8c\6system\x93\x8c\4true\x85R"s) == "posix.system");
  CHECK(name("(X\4\0\0\0trueiposix\nsystem\n"s) == "posix.system");
  CHECK(name("(cposix\nsystem\nX\4\0\0\0trueo"s) == "posix.system");
  CHECK(name("cposix\nsystem\nX\4\0\0\0true\x85\x81"s) == "posix.system");
  CHECK(name("cposix\nsystem\nX\4\0\0\0true\x85}\x92"s) == "posix.system");
  CHECK(name("cargparse\nNamespace\n)\x81}X\2\0\0\0lrG?\xf0\0\0\0\0\0\0sb"s) ==
        "argparse.Namespace");
  CHECK(name("ctorch.optim.sgd\nSGD\n") == "torch.optim.sgd.SGD");
  CHECK(name("cbuiltins\ngetattr\ncos\npath\nX\4\0\0\0join\x86R)R"s) ==
        "builtins.getattr");  // what it returns, called
  for (const char* global :
       {"cos\nsystem\n", "cbuiltins\neval\n", "c__builtin__\nexec\n", "csubprocess\nPopen\n",
        "ctorch.hub\nload\n", "ctorch._utils\n_rebuild2\n", "ctorch\n_utils._rebuild2\n",
        "ctorch.\nutils._rebuild\n", "ccollections\n\n", "c\nOrderedDict\n"}) {
    CAPTURE(global);
    name(global);
    name(std::string(global) + ")R");
  }
  // PyTorch before 1.6 saved the source of a module beside its class.
  CHECK(name("(X\6\0\0\0modulecnet\nNet\nX\6\0\0\0net.pyX\1\0\0\0xtQ)\x81}b"s) == "net.Net");

  // An object that gets items is a dict or a list, whatever its class.
  const Pickle dict = read("ccollections\ndefaultdict\n)R(X\1\0\0\0aK\1u"s);
  CHECK((dict[dict.root].kind == Kind::dict && dict[dict.root].items.size() == 2));
  const Pickle list = read("ccollections\ndeque\n)R(K\1K\2e");
  CHECK((list[list.root].kind == Kind::list && list[list.root].items.size() == 2));
}

TEST_CASE("every opcode that Python does not have is an Error, whatever follows it") {
  const std::string opcodes = "().012BCFGIJKLMNPQRSTUVX]abcdeghijlopqrstu}";
  for (int opcode = 0; opcode < 256; ++opcode)
    if (opcode < 0x80 ? opcodes.find(static_cast<char>(opcode)) == std::string::npos
                      : opcode > 0x98) {
      CAPTURE(opcode);
      CHECK(contains(
          error_in("}" + std::string(1, static_cast<char>(opcode)) + std::string(20, '\0')),
          "byte 3: the opcode " + std::to_string(opcode) + " (which no pickle has"));
    }
  CHECK(contains(error_in("K\1}b"), "attributes of something that has none"));
  CHECK(contains(error_in("})R"), "a call of something that is no global"));
  CHECK(contains(error_in("ctorch\nSize\n]R"), "a call without a tuple of arguments"));
  CHECK(contains(error_in("(o"), "an object without a class"));
}

TEST_CASE("a pickle that is damaged is an Error at its byte") {
  CHECK(contains(error_in(""), "file, byte 2: a missing value"));
  CHECK(contains(error_in("NN"), "values that belong to nothing"));
  CHECK(contains(error_in("a"), "a missing value"));
  CHECK(contains(error_in("NNa"), "items of something that has none"));
  CHECK(contains(error_in("t"), "expected a mark"));
  CHECK(contains(error_in("(a"), "a missing value"));
  CHECK(contains(error_in("}(Nu"), "a key without a value"));
  CHECK(contains(error_in("h\7"), "byte 2: the number 7 of the memo, which was never set"));
  CHECK(contains(error_in("X\xFF\xFF\xFF\xFF"), "a text of 4294967295 bytes where 1 are left"));
  CHECK(contains(error_in("\x8b\xFF\xFF\xFF\xFF"),
                 "an integer of 4294967295 bytes where 1 are left"));
  CHECK(contains(error_in("ctorch"), "the module of a global without an end"));
  CHECK(contains(error_in("J\1"), "an integer of 4 bytes where 2 are left"));
}

TEST_CASE(
    "a memo's number asks for no memory, nesting for no stack, copies for no more than was read") {
  CHECK(contains(error_in("Nr\xFF\xFF\xFF\xFF"),
                 "byte 3: the number 4294967295 of the memo, which is too large"));
  const int deep = 1000000;
  const Pickle nested = read(std::string(deep, ']') + std::string(deep - 1, 'a'));
  CHECK(nested.values.size() == deep);
  CHECK(read("]q\0h\0a"s).values[0].items[0] == 0);  // inside itself

  // A dict of many items, made into an OrderedDict again and again.
  std::string bomb = "}q\0("s;
  for (int i = 0; i < 1000; ++i)
    bomb += "NN";
  bomb += "uccollections\nOrderedDict\nq\1";
  for (int i = 0; i < 1000; ++i)
    bomb += "h\1h\0\x85R"s;
  CHECK(contains(error_in(bomb), "dicts made of the same values again and again"));
}
