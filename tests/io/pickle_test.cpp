#include <array>
#include <doctest/doctest.h>
#include <string>
#include <string_view>

#include <gpunet/io/pickle.hpp>

#include "corpus.hpp"

using namespace gpunet;
using io::detail::ByteReader;
using io::detail::Pickle;
using io::detail::PickleReader;
using Kind = io::detail::PickleValue::Kind;
using namespace std::string_literals;

namespace {

constexpr std::array<std::string_view, 3> known{"collections.OrderedDict", "torch._utils._rebuild", "torch.Size"};

// The pickle of protocol 2 with these opcodes and STOP.
Pickle read(const std::string& opcodes) {
  const std::string text = "\x80\2" + opcodes + ".";
  ByteReader bytes(std::as_bytes(std::span(text)), "file");
  Pickle out = PickleReader(bytes, known).read();
  CHECK(bytes.left() == 0);
  for (auto& value : out.values)
    value.text = {};  // they borrow from `text`
  return out;
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
  for (const std::string& large : {"\x8a\x09\0\0\0\0\0\0\0\x80\0"s, "\x8b\x2c\1\0\0"s + std::string(300, '\1')}) {
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

  // OrderedDict() whose items follow, with attributes; and as Python 2 wrote it, OrderedDict([["a", 1]]).
  const Pickle ordered = read("ccollections\nOrderedDict\n)R(X\1\0\0\0aK\1u}b"s);
  CHECK((ordered[ordered.root].kind == Kind::dict && ordered[ordered.root].items.size() == 2));
  const Pickle old = read("ccollections\nOrderedDict\n(](](U\1aK\1eetR"s);
  CHECK((old[old.root].kind == Kind::dict && old[old.root].items.size() == 2));
}

TEST_CASE("arrays of NumPy and other dicts are to be saved another way") {
  CHECK(contains(error_in("cnumpy._core.multiarray\n_reconstruct\n)R"s),
                 "byte 2: the global \"numpy._core.multiarray._reconstruct\""));
  CHECK(contains(error_in("cnumpy._core.multiarray\n_reconstruct\n)R"s), "numpy.savez(path, **arrays)"));
  CHECK(contains(error_in("ccollections\ndefaultdict\n)R"s), "torch.save(dict(what), path)"));
}

TEST_CASE("nothing is imported or executed") {
  // What os.system("true") looks like, and other ways to code.
  CHECK(error_in("cposix\nsystem\nX\4\0\0\0true\x85R"s) ==
        "file, byte 2: a whole object, of the global \"posix.system\" (gpunet reads tensors and plain data, and "
        "imports "
        "or executes nothing), save its state_dict in Python: torch.save(net.state_dict(), path)");
  CHECK(error_in("}X\4\0\0\0argscargparse\nNamespace\n)\x81"s) ==
        "file, byte 12: the global \"argparse.Namespace\" behind the text \"args\" (gpunet reads tensors and plain "
        "data, "
        "and imports or executes nothing), save what you need without it, in Python: "
        "torch.save(dict(what), path)");
  for (const char* global : {"cos\nsystem\n", "cbuiltins\neval\n", "c__builtin__\nexec\n", "csubprocess\nPopen\n",
                             "ctorch.hub\nload\n", "ctorch._utils\n_rebuild2\n", "ctorch\n_utils._rebuild2\n",
                             "ctorch.\nutils._rebuild\n", "ccollections\n\n", "c\nOrderedDict\n"}) {
    CAPTURE(global);
    CHECK(contains(error_in(std::string(global) + ")R"), " the global \""));
  }
  // Every opcode that is not of plain data: those of protocols 0, 3, 4 and 5, and of 2 what makes objects.
  const std::string plain = "().GJKMNQRTUX]abcehjqrstu}\x80\x85\x86\x87\x88\x89\x8a\x8b";
  for (int opcode = 0; opcode < 256; ++opcode)
    if (plain.find(static_cast<char>(opcode)) == std::string::npos) {
      CAPTURE(opcode);
      CHECK(contains(error_in("}" + std::string(1, static_cast<char>(opcode)) + std::string(20, '\0')),
                     "byte 3: the opcode " + std::to_string(opcode) + " (only those of plain data"));
    }
  CHECK(contains(error_in(")}b"), "attributes of something that is no dict"));
  CHECK(contains(error_in("})R"), "a call of something that is no global"));
  CHECK(contains(error_in("ctorch\nSize\n]R"), "a call without a tuple of arguments"));
}

TEST_CASE("a pickle that is damaged is an Error at its byte") {
  CHECK(contains(error_in(""), "file, byte 2: a value that is not there"));
  CHECK(contains(error_in("NN"), "values that belong to nothing"));
  CHECK(contains(error_in("a"), "a value that is not there"));
  CHECK(contains(error_in("NNa"), "items of something that has none"));
  CHECK(contains(error_in("t"), "no mark where one is wanted"));
  CHECK(contains(error_in("(a"), "a value that is not there"));
  CHECK(contains(error_in("}(Nu"), "a key without a value"));
  CHECK(contains(error_in("h\7"), "byte 2: the number 7 of the memo, which was never set"));
  CHECK(contains(error_in("X\xFF\xFF\xFF\xFF"), "a text of 4294967295 bytes where 1 are left"));
  CHECK(contains(error_in("\x8b\xFF\xFF\xFF\xFF"), "an integer of 4294967295 bytes where 1 are left"));
  CHECK(contains(error_in("ctorch"), "the module of a global without an end"));
  CHECK(contains(error_in("J\1"), "an integer of 4 bytes where 2 are left"));
  const std::string protocol4 = "\x80\4N.";
  CHECK(contains(error_of([&] {
                   ByteReader bytes(std::as_bytes(std::span(protocol4)), "file");
                   PickleReader(bytes, known).read();
                 }),
                 "a pickle of protocol 4 (torch.save writes protocol 2)"));
}

TEST_CASE("a memo's number asks for no memory, nesting for no stack, copies for no more than was read") {
  CHECK(contains(error_in("Nr\xFF\xFF\xFF\xFF"), "byte 3: the number 4294967295 of the memo, which is too large"));
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
