#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/io/json.hpp>

#include "temp_folder.hpp"

using namespace gpunet;
using io::detail::JsonReader;

namespace {

std::string string_in(const std::string& text) {
  JsonReader json(text, "file", 0);
  std::string value = json.string();
  json.finish();
  return value;
}

index_t integer_in(const std::string& text) {
  JsonReader json(text, "file", 0);
  const index_t value = json.integer();
  json.finish();
  return value;
}

std::string string_error(const std::string& text) {
  return error_of([&] { string_in(text); });
}

std::string integer_error(const std::string& text) {
  return error_of([&] { integer_in(text); });
}

// The keys of an object of integers.
std::vector<std::string> keys_in(const std::string& text) {
  JsonReader json(text, "file", 0);
  std::vector<std::string> keys;
  json.object([&](const std::string& key) {
    keys.push_back(key);
    json.integer();
  });
  json.finish();
  return keys;
}

std::string object_error(const std::string& text) {
  return error_of([&] { keys_in(text); });
}

}  // namespace

TEST_CASE("strings: escapes and UTF-8") {
  CHECK(string_in(R"("")").empty());
  CHECK(string_in(R"( "conv1.weight" )") == "conv1.weight");
  CHECK(string_in(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
  CHECK(string_in(R"("\u0041\u00e9\u20AC\ud83d\uDE00")") ==
        "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(string_in("\"\xC3\xA9\xF0\x9F\x98\x80\x7F\"") == "\xC3\xA9\xF0\x9F\x98\x80\x7F");
  CHECK(string_in(R"("\u0000")") == std::string(1, '\0'));
}

TEST_CASE("strings: what is refused") {
  CHECK(contains(string_error("x"), "file, byte 0: expected '\"'"));
  CHECK(contains(string_error("\"abc"), "file, byte 4: the text ends inside a string"));
  CHECK(contains(string_error("\"abc\\"), "unknown escape"));
  CHECK(contains(string_error(R"("\x")"), "unknown escape"));
  CHECK(contains(string_error("\"a\nb\""), "file, byte 2: a control character"));
  CHECK(contains(string_error(R"("\u12")"), "hexadecimal"));
  CHECK(contains(string_error(R"("\u+123")"), "hexadecimal"));
  CHECK(contains(string_error(R"("\u12")"), "hexadecimal"));
  CHECK(contains(string_error("\"\\u"), "hexadecimal"));
  for (const char* half : {R"("\ud83d")", R"("\ud83dx")", R"("\ud83d\n")", R"("\ud83d\u0041")",
                           R"("\ud83d\ue000")", R"("\ude00")"})
    CHECK(contains(string_error(half), "surrogate"));
  // A lone continuation, a character cut short, "/" in two bytes, a surrogate, more than U+10FFFF,
  // no such byte.
  for (const char* wrong : {"\"\x80\"", "\"\xC3\"", "\"\xC0\xAF\"", "\"\xED\xA0\x80\"",
                            "\"\xF4\x90\x80\x80\"", "\"\xFF\""})
    CHECK(contains(string_error(wrong), "file, byte 1: a character that is not UTF-8"));
}

TEST_CASE("integers") {
  CHECK(integer_in("0") == 0);
  CHECK(integer_in(" 120\n") == 120);
  CHECK(integer_in("9223372036854775807") == 9223372036854775807);
  CHECK(contains(integer_error("9223372036854775808"), "too large"));
  CHECK(contains(integer_error("007"), "begins with 0"));
  for (const char* wrong : {"-1", "-0", "+1", "", "x", ".5", "null"})
    CHECK(contains(integer_error(wrong), "expected an unsigned integer"));
  for (const char* wrong : {"1.0", "1e3", "0E0"})
    CHECK(contains(integer_error(wrong), "a fraction"));
  CHECK(contains(integer_error("12 3"), "file, byte 3: more text than wanted"));
}

TEST_CASE("objects and arrays") {
  CHECK(keys_in("{}").empty());
  CHECK(keys_in("{ \"a\" : 1 ,\t\"b\":2 }\r\n") == std::vector<std::string>{"a", "b"});
  CHECK(contains(object_error(R"({"a":1,"\u0061":2})"), "the key \"a\" occurs twice"));
  for (const char* wrong :
       {"", "{", "{\"a\"}", "{\"a\":1", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{a:1}", "[]"})
    CHECK(contains(object_error(wrong), "expected "));

  JsonReader json("[1, 20,300]", "file", 0);
  std::vector<index_t> values;
  json.array([&] { values.push_back(json.integer()); });
  CHECK(values == std::vector<index_t>{1, 20, 300});
  JsonReader none("[ ]", "file", 0);
  none.array([] { FAIL("no element"); });
  JsonReader open("[1,]", "file", 0);
  CHECK(contains(error_of([&] { open.array([&] { open.integer(); }); }),
                 "expected an unsigned integer"));
}

TEST_CASE("an error names the file, the byte in the file, and what to do") {
  CHECK(error_of([] { JsonReader("  x", "gpunet::io: a.safetensors", 8).integer(); }) ==
        "gpunet::io: a.safetensors, byte 10: expected an unsigned integer (it is damaged, or no "
        "file of "
        "this "
        "kind), fetch or save it again");
}

TEST_CASE("json_string is read back, and printable has no control characters") {
  std::string all;
  for (char c = 0; c < 0x7F; ++c)
    all += c;
  all += "\xC3\xA9";
  CHECK(string_in(io::detail::json_string(all)) == all);
  CHECK(io::detail::json_string("\x1f\n\"") == R"("\u001f\n\"")");
  CHECK(io::detail::printable("a\x1b[2J") == "a\\u001b[2J");
  CHECK(io::detail::printable(std::string(1000, 'x')).size() < 210);
}
