#include <cmath>
#include <doctest/doctest.h>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gpunet/data/csv.hpp>

#include "io/temp_folder.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using data::Table;
using namespace std::string_literals;

namespace {

Table table_of(const std::string& text, const data::CsvOptions& options = {}) {
  return Table::parse({text.begin(), text.end()}, "t.csv", options);
}
std::string error_of_text(const std::string& text) {
  return error_of([&] { table_of(text); });
}

}  // namespace

TEST_CASE("columns are found by name") {
  const Table table = table_of("length,width,kind\n5.1,3.5,a\n-4.9e0,+3,b\n");
  CHECK(table.rows() == 2);
  CHECK(table.columns() == std::vector<std::string>{"length", "width", "kind"});
  CHECK(table.numbers({"width", "length"}) == std::vector<float>{3.5f, 5.1f, 3.0f, -4.9f});
  CHECK(table.numbers<double>("length") == std::vector<double>{5.1, -4.9});
  CHECK(table.at(1, "kind") == "b");
}

TEST_CASE("line ends, the last line and empty lines may be of any kind") {
  for (const std::string text :
       {"a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n", "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4",
        "\n\r\na,b\n\n1,2\r\n\r\n3,4\n\n\r\n", "a,b\r1,2\r\r3,4\r", "a,b\r\r\n1,\"2\"\r3,4",
        "\xEF\xBB\xBF"
        "a,b\n1,2\n3,4\r"}) {
    CAPTURE(text);
    const Table table = table_of(text);
    CHECK(table.columns() == std::vector<std::string>{"a", "b"});
    CHECK(table.numbers({"a", "b"}) == std::vector<float>{1, 2, 3, 4});
  }
}

TEST_CASE("a field in quotes holds separators, line breaks and quotes") {
  const Table table = table_of("\"a, b\",c\n\"one\r\ntwo\",\"say \"\"no\"\"\"\n\"\",x\n");
  CHECK(table.columns() == std::vector<std::string>{"a, b", "c"});
  CHECK(table.at(0, "a, b") == "one\r\ntwo");
  CHECK(table.at(0, "c") == "say \"no\"");
  CHECK(table.at(1, "a, b").empty());
}

TEST_CASE("other separators, and no header") {
  const Table table = table_of("1;2\n3;4\n", {.separator = ';', .header = false});
  CHECK(table.rows() == 2);
  CHECK(table.numbers({"1", "0"}) == std::vector<float>{2, 1, 4, 3});
}

TEST_CASE("classes are numbered in the order of their names") {
  const Table table = table_of("k,n\nsetosa,10\nvirginica,9\nsetosa,9.0\n");
  const data::Categories kinds = table.categories("k");
  CHECK(kinds.values == std::vector<label_t>{0, 1, 0});
  CHECK(kinds.names == std::vector<std::string>{"setosa", "virginica"});
  const data::Categories numbers = table.categories("n");  // as numbers: 9 before 10
  CHECK(numbers.names == std::vector<std::string>{"9", "10"});
  CHECK(numbers.values == std::vector<label_t>{1, 0, 0});
}

TEST_CASE("numbers that are equal are one class, called as the first of them is written") {
  const auto classes = [](const std::string& text) {
    return table_of("n\n" + text).categories("n");
  };
  CHECK(classes("10\n01\n1.0\n 1\n-2\n").names == std::vector<std::string>{"-2", "01", "10"});
  CHECK(classes("10\n01\n1.0\n 1\n-2\n").values == std::vector<label_t>{2, 1, 1, 1, 0});
  CHECK(classes("01\n1\nx\n").names == std::vector<std::string>{"01", "1", "x"});
  CHECK(classes("01\n1\nnan\nx\n").names.size() == 4);  // a word among words
  // Numbers of things that no double can tell apart are not merged.
  CHECK(classes("9007199254740993\n9007199254740992\n").values == std::vector<label_t>{1, 0});
}

TEST_CASE("numbers too small for their type are 0 or subnormal, as everywhere") {
  const Table table =
      table_of("n\n1e-40\n1e-46\n-1e-400\n0." + std::string(400, '0') + "1\n1e-99999999999999999999\n");
  CHECK(table.numbers("n") == std::vector<float>{1e-40f, 0, 0, 0, 0});
  CHECK(std::signbit(table.numbers("n")[2]));
  CHECK(table.numbers<double>("n") == std::vector<double>{1e-40, 1e-46, 0, 0, 0});
  for (const std::string& large : {"1e39"s, "-1e400"s, "1" + std::string(400, '0'), "1e+99999999999999999999"s}) {
    CAPTURE(large);
    CHECK(contains(error_of([&] { table_of("n\n" + large + "\n").numbers("n"); }), "is out of range"));
  }
  CHECK(contains(error_of([&] { table_of("n\n99999999999\n").numbers<int>("n"); }), "is out of range"));
}

TEST_CASE("a table may have no rows, but not no columns") {
  const Table table = table_of("a,b\n");
  CHECK(table.rows() == 0);
  CHECK(table.columns() == std::vector<std::string>{"a", "b"});
  CHECK(table.numbers({"b", "a"}).empty());
  CHECK(table.categories("a").names.empty());
  CHECK(contains(error_of([&] { table_of("\r\n", {.header = false}); }), "t.csv is empty (want a table)"));
}

TEST_CASE("a table may be moved") {
  Table first = table_of("a\n1\n");
  const Table second = std::move(first);
  CHECK(second.numbers("a") == std::vector<float>{1});
}

TEST_CASE("what is wrong is said with file, line and column") {
  CHECK(contains(error_of_text(""), "t.csv is empty"));
  CHECK(contains(error_of_text("\n\n"), "t.csv is empty"));
  CHECK(contains(error_of_text("a,b\n1,2\n\n3\n"), "t.csv:4: 1 fields (want 2 as in the first line)"));
  CHECK(contains(error_of_text("a,b\n\"1\n\",2,3\n"), "t.csv:2: 3 fields (want 2"));
  CHECK(contains(error_of_text("a\nx\n\"1\n2\n"), "t.csv:3: a quote opens here and is never closed"));
  CHECK(contains(error_of_text("a\n\"1\"2\n"), "t.csv:2: text after the closing quote"));
  CHECK(contains(error_of_text("a\r\"1\r\n2\r\"\r\"3"), "t.csv:5: a quote opens here"));
  CHECK(contains(error_of_text("a,b,a\n"), "columns 1 and 3 are both called 'a', rename one"));

  const Table table = table_of("a,b\n1,2\n\"\n\",x\n,1e999\n");
  CHECK(table.rows() == 3);
  CHECK(contains(error_of([&] { table.numbers("c"); }), "t.csv has no column 'c' (it has 'a', 'b')"));
  CHECK(contains(error_of([&] { table.numbers("b"); }), "t.csv:3: column 'b': 'x' is not a number"));
  CHECK(contains(error_of([&] { table_of("a,b\n,1\n").numbers("a"); }),
                 "t.csv:2: column 'a': '' is not a number, fill the field or leave the row out"));
  CHECK(contains(error_of([&] { table_of("a\n1e999\n").numbers("a"); }), "'1e999' is out of range"));
  CHECK(contains(error_of([&] { table.categories("a"); }), "t.csv:5: column 'a': the field is empty"));
}

// Work that grows with the square of the columns would not end.
TEST_CASE("a NUL byte does not cut a message") {
  const Table table = table_of("a\0b,c\n1,2\0x\n"s);
  CHECK(
      error_of([&] { table.numbers({"c"}); }) ==
      "gpunet::data::Table: t.csv:2: column 'c': '2\\0x' is not a number, fix the line, or read a column of words "
      "with categories()");
  CHECK(error_of([&] { table.numbers({"b"}); }) ==
        "gpunet::data::Table: t.csv has no column 'b' (it has 'a\\0b', 'c')");
}

TEST_CASE("a table may have any number of columns") {
  constexpr std::size_t n = 500'000;
  std::string text;
  for (const char* field : {"c", ""})
    for (std::size_t i = 0; i < n; ++i)
      text += field + std::to_string(i) + (i + 1 < n ? "," : "\n");
  const Table table = table_of(text);
  REQUIRE(table.columns().size() == n);
  const std::vector<double> numbers = table.numbers<double>(table.columns());
  REQUIRE(numbers.size() == n);
  CHECK(numbers[n - 1] == n - 1);
  CHECK(table.numbers_but<double>("c0")[0] == 1);
  CHECK(
      error_of([&] { table.numbers("x"); }) ==
      "gpunet::data::Table: t.csv has no column 'x' (it has 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', "
      "'c9' and 499990 more)");
}

TEST_CASE("a number that is not finite is said with its place, or read if that is wanted") {
  const std::string text = "a,b,k\n1,2,1\nnan,3,2\n4,-inf,1\n";
  const Table table = table_of(text);
  CHECK(table.numbers("k") == std::vector<float>{1, 2, 1});
  CHECK(error_of([&] {
          table.numbers({"b", "a"});
        }) ==
        "gpunet::data::Table: t.csv:3: column 'a': 'nan' is not finite (a loss would be NaN), fill the field, "
        "leave the row "
        "out, or read the table with {.allow_nan = true}");
  CHECK(contains(error_of([&] { table.numbers("b"); }), "t.csv:4: column 'b': '-inf' is not finite"));
  for (const char* word : {"NaN", "-nan", " NAN ", "+inf", "Infinity"})
    CHECK(contains(error_of([&] { table_of("a\n" + std::string(word) + "\n").numbers<double>("a"); }),
                   "is not finite"));
  const Table all = table_of(text, {.allow_nan = true});
  CHECK(std::isnan(all.numbers("a")[1]));
  CHECK(all.numbers("b")[2] == -std::numeric_limits<float>::infinity());
  // A class that is missing among numbers.
  CHECK(error_of([&] { table.categories("a"); }) ==
        "gpunet::data::Table: t.csv:3: column 'a': 'nan' is not finite (want a class), fill the field, leave the "
        "row out, or "
        "read the table with {.allow_nan = true}");
  CHECK(all.categories("a").names == std::vector<std::string>{"1", "4", "nan"});
  CHECK(table_of("k\nnan\nroti\n").categories("k").names == std::vector<std::string>{"nan", "roti"});
}

TEST_CASE("read_csv reads files of any length, and says what it cannot read") {
  const TempFolder folder;
  const std::string path = folder / "numbers.csv";
  std::string text = "n\n";
  for (int i = 0; i < 50000; ++i)
    text += std::to_string(i) + "\n";
  std::ofstream(path) << text;
  const std::vector<float> numbers = data::read_csv(path).numbers("n");
  CHECK(numbers.size() == 50000);
  CHECK(numbers.back() == 49999);
  CHECK(contains(error_of([&] { data::read_csv(folder / "none.csv"); }),
                 ": No such file or directory, check the path"));
  CHECK(contains(error_of([&] { data::read_csv(folder.path()); }), ": it is a folder, give a file in it"));
  for (char separator : {'"', '\n', '\r'})
    CHECK(contains(error_of([&] { table_of("a\n", {.separator = separator}); }), "a separator that is a quote"));
}
