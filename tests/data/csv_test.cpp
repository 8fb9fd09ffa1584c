#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gpunet/data/csv.hpp>

#include "io/temp_folder.hpp"
#include "support/errors.hpp"
#include "support/stored_deflate.hpp"

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
        "\n\r\na,b\n\n1,2\r\n\r\n3,4\n\n\r\n", "  \na,b\n1,2\n \t \r\n3,4\n  ", "a,b\r1,2\r\r3,4\r",
        "a,b\r\r\n1,\"2\"\r3,4",
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
  // Numbers of things that no double can tell apart are not merged.
  CHECK(classes("9007199254740993\n9007199254740992\n").values == std::vector<label_t>{1, 0});
}

TEST_CASE("numbers too small for their type are 0 or subnormal, as everywhere") {
  const Table table = table_of("n\n1e-40\n1e-46\n-1e-400\n0." + std::string(400, '0') +
                               "1\n1e-99999999999999999999\n");
  CHECK(table.numbers("n") == std::vector<float>{1e-40f, 0, 0, 0, 0});
  CHECK(std::signbit(table.numbers("n")[2]));
  CHECK(table.numbers<double>("n") == std::vector<double>{1e-40, 1e-46, 0, 0, 0});
  for (const std::string& large :
       {"1e39"s, "-1e400"s, "1" + std::string(400, '0'), "1e+99999999999999999999"s}) {
    CAPTURE(large);
    CHECK(contains(error_of([&] { table_of("n\n" + large + "\n").numbers("n"); }),
                   "is out of range"));
  }
  CHECK(contains(error_of([&] { table_of("n\n99999999999\n").numbers<int>("n"); }),
                 "is out of range"));
}

TEST_CASE("a table may have no rows, but not no columns") {
  const Table table = table_of("a,b\n");
  CHECK(table.rows() == 0);
  CHECK(table.columns() == std::vector<std::string>{"a", "b"});
  CHECK(table.numbers({"b", "a"}).empty());
  CHECK(table.categories("a").names.empty());
  CHECK(contains(error_of([&] { table_of("\r\n", {.header = false}); }),
                 "t.csv is empty (want a table)"));
}

TEST_CASE("a table may be moved") {
  Table first = table_of("a\n1\n");
  const Table second = std::move(first);
  CHECK(second.numbers("a") == std::vector<float>{1});
}

TEST_CASE("what is wrong is said with file, line and column") {
  CHECK(contains(error_of_text(""), "t.csv is empty"));
  CHECK(contains(error_of_text("\n\n"), "t.csv is empty"));
  CHECK(contains(error_of_text("a,b\n1,2\n\n3\n"),
                 "t.csv:4: 1 fields (want 2 as in the first line)"));
  CHECK(contains(error_of_text("a,b\n\"1\n\",2,3\n"), "t.csv:2: 3 fields (want 2"));
  CHECK(
      contains(error_of_text("a\nx\n\"1\n2\n"), "t.csv:3: a quote opens here and is never closed"));
  CHECK(contains(error_of_text("a\n\"1\"2\n"), "t.csv:2: text after the closing quote"));
  CHECK(contains(error_of_text("a\r\"1\r\n2\r\"\r\"3"), "t.csv:5: a quote opens here"));

  const Table table = table_of("a,b\n1,2\n\"\n\",x\n,1e999\n");
  CHECK(table.rows() == 3);
  CHECK(
      contains(error_of([&] { table.numbers("c"); }), "t.csv has no column 'c' (it has 'a', 'b')"));
  CHECK(
      contains(error_of([&] { table.numbers("b"); }), "t.csv:3: column 'b': 'x' is not a number"));
  CHECK(contains(error_of([&] { table_of("a,b\n,1\n").numbers("a"); }),
                 "t.csv:2: column 'a': the field is empty (a loss would be NaN), fill the field, "
                 "leave the row out, or"));
  CHECK(
      contains(error_of([&] { table_of("a\n1e999\n").numbers("a"); }), "'1e999' is out of range"));
  CHECK(contains(error_of([&] { table.categories("a"); }),
                 "t.csv:5: column 'a': the field is empty"));
}

// Work that grows with the square of the columns would not end.
TEST_CASE("a NUL byte does not cut a message") {
  const Table table = table_of("a\0b,c\n1,2\0x\n"s);
  CHECK(error_of([&] { table.numbers({"c"}); }) ==
        "gpunet::data::Table: t.csv:2: column 'c': '2\\0x' is not a number, fix the line, or read "
        "a column of words "
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
  CHECK(error_of([&] { table.numbers("x"); }) ==
        "gpunet::data::Table: t.csv has no column 'x' (it has 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', "
        "'c6', 'c7', 'c8', "
        "'c9' and 499990 more)");
}

TEST_CASE("a number that is not finite is said with its place, or read if that is wanted") {
  const std::string text = "a,b,k\n1,2,1\nnan,3,2\n4,-inf,1\n";
  const Table table = table_of(text);
  CHECK(table.numbers("k") == std::vector<float>{1, 2, 1});
  CHECK(error_of([&] {
          table.numbers({"b", "a"});
        }) ==
        "gpunet::data::Table: t.csv:3: column 'a': 'nan' is a missing value (a loss would be NaN), "
        "fill the field, "
        "leave the row "
        "out, or read the table with {.allow_nan = true}");
  CHECK(
      contains(error_of([&] { table.numbers("b"); }), "t.csv:4: column 'b': '-inf' is not finite"));
  for (const char* word : {"-inf", "+inf", "Infinity"})
    CHECK(
        contains(error_of([&] { table_of("a\n" + std::string(word) + "\n").numbers<double>("a"); }),
                 "is not finite"));
  const Table all = table_of(text, {.allow_nan = true});
  CHECK(std::isnan(all.numbers("a")[1]));
  CHECK(all.numbers("b")[2] == -std::numeric_limits<float>::infinity());
  // A class that is missing among numbers.
  CHECK(
      error_of([&] { table.categories("a"); }) ==
      "gpunet::data::Table: t.csv:3: column 'a': 'nan' is a missing value (want a class), fill the "
      "field, leave "
      "the row out, or read the table with {.allow_nan = true} (as class -1) or, if it is a class, "
      "{.keep_default_na = false}");
  CHECK(all.categories("a").names == std::vector<std::string>{"1", "4"});
  CHECK(all.categories("a").values == std::vector<label_t>{0, -1, 1});  // as pandas' codes
  CHECK(contains(error_of([&] { table.categories("b"); }), "'-inf' is not finite (want a class)"));
  CHECK(all.categories("b").names == std::vector<std::string>{"-inf", "2", "3"});
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
  CHECK(contains(error_of([&] { data::read_csv(folder.path()); }),
                 ": it is a folder, give a file in it"));
  for (char separator : {'"', '\n', '\r'})
    CHECK(contains(error_of([&] { table_of("a\n", {.separator = separator}); }),
                   "a separator that is a quote"));
}

namespace {

// Returns whether the numbers are equal; NaN equals NaN.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// The list is pandas.io's STR_NA_VALUES, version 3.1.
TEST_CASE("pandas' words are missing values, of numbers and of classes") {
  for (const char* word :
       {"",       "#N/A",    "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN",  "-nan",
        "1.#IND", "1.#QNAN", "<NA>",     "N/A",  "NA",      "NULL",     "NaN",   "None",
        "n/a",    "nan",     "null",     "\"\"", " ",       " NA ",     "\"NA\""}) {
    CAPTURE(word);
    const std::string text = concat("a,k\n1.5,cat\n", word, ",", word, "\n2,dog\n");
    const Table strict = table_of(text), all = table_of(text, {.allow_nan = true});
    CHECK(contains(error_of([&] { strict.numbers("a"); }), "t.csv:3: column 'a': "));
    CHECK(contains(error_of([&] { strict.numbers("a"); }), "(a loss would be NaN)"));
    CHECK(contains(error_of([&] { strict.categories("k"); }), "(want a class)"));
    CHECK(contains(error_of([&] { strict.categories("a"); }), "(want a class)"));
    CHECK(same(all.numbers<double>("a"), {1.5, nan_value, 2}));
    CHECK(all.categories("k").values == std::vector<label_t>{0, -1, 1});
    CHECK(all.categories("k").names == std::vector<std::string>{"cat", "dog"});
    CHECK(all.categories("a").values == std::vector<label_t>{0, -1, 1});
    const Table whole = table_of(concat("n,m\n", word, ",1\n"), {.allow_nan = true});
    CHECK(contains(error_of([&] { whole.numbers<int>("n"); }),
                   "(no integer is NaN), fill the field, leave the row out, or read the table with "
                   "{.allow_nan = true} as "
                   "numbers of float"));
  }
  CHECK(table_of("k\n?\nNan\nnone\n").categories("k").names ==
        std::vector<std::string>{"?", "Nan", "none"});
}

TEST_CASE("options name words for missing values, or none") {
  const std::string text = "a,k\n?,?\n3,cat\n-999,-\n";
  const Table table = table_of(text, {.allow_nan = true, .na_values = {"?", "-999.0", "-"}});
  CHECK(same(table.numbers<double>("a"), {nan_value, 3, nan_value}));  // -999 too: they are equal
  CHECK(table.categories("k").values == std::vector<label_t>{-1, 0, -1});
  CHECK(error_of([&] { table_of(text).numbers("a"); }) ==
        "gpunet::data::Table: t.csv:2: column 'a': '?' is not a number, fix the line, or read a "
        "column of words with "
        "categories(), or missing values with {.allow_nan = true, .na_values = {\"?\"}}");
  CHECK(contains(error_of([&] { table_of(text, {.na_values = {"?"}}).numbers("a"); }),
                 "'?' is a missing value"));
  // As pandas' keep_default_na: an empty field, NA and nan are classes.
  const Table words =
      table_of("k,v\n,1\nnan,NA\nb,3\n", {.allow_nan = true, .keep_default_na = false});
  CHECK(words.categories("k").names == std::vector<std::string>{"", "b", "nan"});
  CHECK(words.categories("k").values == std::vector<label_t>{0, 2, 1});
  CHECK(contains(error_of([&] { words.numbers("v"); }), "'NA' is not a number"));
}

TEST_CASE("another table's classes have the numbers of the first") {
  const Table train = table_of("color,n\nblue,10\ngreen,2\nred,2.0\n");
  const Table test = table_of("color,n\nred,2\nblue,010\n");
  const data::Categories colors = train.categories("color"), numbers = train.categories("n");
  CHECK(test.categories("color").values == std::vector<label_t>{1, 0});  // of its own
  CHECK(test.categories("color", colors.names).values == std::vector<label_t>{2, 0});
  CHECK(test.categories("color", colors.names).names == colors.names);
  CHECK(test.categories("n", numbers.names).values == std::vector<label_t>{0, 1});  // 2 and 10
  CHECK(test.categories("color", {"red", "blue"}).values == std::vector<label_t>{0, 1});

  const Table other = table_of("color,n\nred,2\npink,x\nNA,3\n", {.allow_nan = true});
  CHECK(error_of([&] { other.categories("color", colors.names); }) ==
        "gpunet::data::Table: t.csv:3: column 'color': 'pink' is none of the 3 classes (blue, "
        "green, red), fix the "
        "line, "
        "or number all such fields: {.unknown = -1}");
  // As pandas.Categorical(column, categories=names).codes, and with one class for all others.
  CHECK(other.categories("color", colors.names, {.unknown = -1}).values ==
        std::vector<label_t>{2, -1, -1});
  CHECK(other.categories("color", colors.names, {.unknown = 3}).values ==
        std::vector<label_t>{2, 3, -1});
  CHECK(other.categories("n", numbers.names, {.unknown = -1}).values ==
        std::vector<label_t>{0, -1, -1});
  CHECK(contains(error_of([&] {
                   test.categories("color", {"red", "blue", "red"});
                 }),
                 "the names 0 and 2, 'red', are one class, leave one out"));
  CHECK(contains(error_of([&] {
                   test.categories("n", {"2", "10", "2.0"});
                 }),
                 "the names 0 and 2, '2.0'"));
  CHECK(contains(error_of([&] { table_of("k\nNA\n").categories("k", {"a"}); }),
                 "'NA' is a missing value"));
  CHECK(contains(error_of([&] { test.categories("color", {}); }), "is none of the 0 classes"));
}

TEST_CASE("columns with the same name, or none, get pandas' names") {
  const auto names = [](const std::string& header) {
    return table_of(header + "\n").columns();
  };
  using Names = std::vector<std::string>;
  CHECK(names("x,x,y") == Names{"x", "x.1", "y"});
  CHECK(names("a,b,,") == Names{"a", "b", "Unnamed: 2", "Unnamed: 3"});
  CHECK(names("x,x,x.1,,x") == Names{"x", "x.2", "x.1", "Unnamed: 3", "x.3"});
  CHECK(names("a,,Unnamed: 1") == Names{"a", "Unnamed: 1.1", "Unnamed: 1"});
  CHECK(names("\"\",a, ") == Names{"Unnamed: 0", "a", " "});
  const Table table = table_of("x,x,y,,\n1,2,3,,\n4,5,6,,\n");
  CHECK(table.numbers({"x.1", "x"}) == std::vector<float>{2, 1, 5, 4});
  CHECK(table_of("x,x\n1,2\n", {.header = false}).columns() == Names{"0", "1"});
  std::string header, row;  // work that grows with the square of the columns would not end
  for (int i = 0; i < 200'000; ++i)
    header += "x,", row += "1,";
  CHECK(table_of(header + "x\n" + row + "1\n").columns().back() == "x.200000");
}

TEST_CASE("decimal commas, comments, and Excel's line of the separator") {
  const std::string text = "Date;CO;T;;\n10/03/2004;2,6;-13,5e1;;\n10/03/2004;2;13;;\n;;;;\n";
  const Table table = table_of(text, {.separator = ';', .allow_nan = true, .decimal = ','});
  CHECK(same(table.numbers<double>({"CO", "T"}), {2.6, -135, 2, 13, nan_value, nan_value}));
  CHECK(table.categories("CO").names == std::vector<std::string>{"2", "2,6"});
  CHECK(contains(
      error_of([&] { table_of("a\n1.5\n", {.separator = ';', .decimal = ','}).numbers("a"); }),
      "'1.5' is not a number"));  // as in pandas
  CHECK(error_of([&] { table_of(text, {.separator = ';'}).numbers("CO"); }) ==
        "gpunet::data::Table: t.csv:2: column 'CO': '2,6' is not a number (because of its comma), "
        "read decimal "
        "commas "
        "with {.decimal = ','}, or remove those between thousands");
  CHECK(contains(error_of([&] { table_of("a\n\"1,234.5\"\n").numbers("a"); }),
                 "or remove those between thousands"));
  CHECK(contains(error_of_text(text),
                 "look for a missing or an extra ',' or quote, or name another separator: "
                 "{.separator = ';'}"));
  CHECK(contains(error_of([&] { table_of("a\tb\n1\t2\n").numbers("a"); }),
                 "name another separator: {.separator = '\\t'}"));
  CHECK(contains(error_of([&] { table_of("a\n", {.decimal = ','}); }),
                 "the separator and the decimal point are both ','"));
  CHECK(contains(error_of([&] { table_of("sep=,\na\n", {.separator = ';', .decimal = ','}); }),
                 "the separator and the decimal point are both ','"));
  CHECK(contains(error_of([&] { table_of("a\n", {.decimal = '1'}); }),
                 "a decimal point '1' (want '.' or ',')"));
  for (const char comment : {',', '"', '\n'})
    CHECK(contains(error_of([&] { table_of("a,b\n,2\n", {.comment = comment}); }),
                   "comments begin with the separator, a quote or a line break"));

  const std::string noted = "# exported 2024-01-01\n# unit: mm\na,b\n1,2\n# the end";
  CHECK(contains(error_of_text(noted), "skip the lines of comments: {.comment = '#'}"));
  const Table without = table_of(noted, {.comment = '#'});
  CHECK(without.columns() == std::vector<std::string>{"a", "b"});
  CHECK(without.numbers("b") == std::vector<float>{2});

  for (const char separator : {';', '\t', ','}) {
    std::string lines = "sep=;\r\na;b\r\n1;2\r\n";
    std::replace(lines.begin(), lines.end(), ';', separator);
    CHECK(table_of(lines).numbers({"b", "a"}) == std::vector<float>{2, 1});
  }
}

TEST_CASE("read_csv names files that are no tables in a text") {
  const TempFolder folder;
  const auto error = [&](const std::string& text) {
    const std::string path = folder / "t.csv";
    std::ofstream(path, std::ios::binary) << text;
    std::string message = error_of([&] { data::read_csv(path); });
    if (message.empty()) return message;
    CHECK(message.starts_with("gpunet::io: " + path + " "));
    return message.substr(std::string("gpunet::io: " + path + " ").size());
  };
  CHECK(error("PK\3\4\24\0\0\0\10\0[Content_Types].xml"s) ==
        "is a workbook of Excel or another office program, save it as CSV");
  CHECK(error("PK\3\4\24\0\0\0\10\0t.csv"s) == "is a zip archive, unpack it (unzip)");
  CHECK(error("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") ==
        "is a workbook or document of Office, save it as CSV");
  const std::string page =
      "is a web page or XML (what a server answers instead of a file?), fetch it again, from the "
      "address of the file itself";
  CHECK(error("<!DOCTYPE html>\n<html>\n") == page);
  CHECK(error("\r\n<!doctype HTML>") == page);
  CHECK(error("<HTML><body>") == page);
  CHECK(error("<?xml version=\"1.0\"?><Error>") == page);
  CHECK(error("<age>,b\n1,2\n").empty());
  CHECK(error("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n") ==
        "is a pointer of Git LFS (the file itself was not fetched), run git lfs pull in its "
        "repository");
  const std::string utf16 =
      "is a text in UTF-16 (want UTF-8), save it as UTF-8 (iconv -f UTF-16 -t UTF-8)";
  CHECK(error("\xFF\xFE"
              "a\0,\0b\0\n\0"s) == utf16);
  CHECK(error("\xFE\xFF\0a\0,\0b"s) == utf16);
  CHECK(error("a\0,\0b\0\n\0"s) == utf16);
  CHECK(error("\0a\0,\0b\0\n"s) == utf16);
  CHECK(error("a,b\n1,2\n\0\0\0\0"s) ==
        "has a NUL at byte 8 (it is damaged, or no text), fetch or save it again");
  CHECK(contains(error("PAR1\x15\4\x15"),
                 "is a Parquet file, save it as text in Python: pandas.read_parquet"));
  CHECK(error("PAR1,PAR2\n1,2\n").empty());
  CHECK(contains(error("ARROW1\0\0"s), "is a Feather (Arrow) file"));
  CHECK(contains(error("SQLite format 3\0"s), "is a database of SQLite"));
  CHECK(contains(error("\x89HDF\r\n\x1A\n"), "is an HDF5 file"));
  CHECK(contains(error("BZh91AY&SY\1"), "is compressed by bzip2, decompress it (bunzip2)"));
  CHECK(contains(error("\xFD"
                       "7zXZ\0"s),
                 "is compressed by xz, decompress it (unxz)"));
  CHECK(contains(error("\x28\xB5\x2F\xFD"), "is compressed by zstd, decompress it (unzstd)"));
  CHECK(contains(error(std::string(257, 'a') + "ustar"), "is a tar archive, unpack it (tar xf)"));
  CHECK(contains(error("%PDF-1.7\n"), "is a PDF document"));
  CHECK(contains(error("[{\"a\": 1}]"), "is a text in JSON, save it as CSV in Python"));
  CHECK(error("\x1F\x8B\x08").starts_with("is compressed by gzip") !=
        (io::deflate_codec() != nullptr));
}

TEST_CASE("read_csv decompresses gzip with the program's codec") {
  const TempFolder folder;
  const std::string path = folder / "t.csv.gz";
  std::ofstream(path, std::ios::binary) << gzip_stored("a,b\n1,2\n");
  {
    const UseCodec stored(&stored_deflate);
    CHECK(data::read_csv(path).numbers({"a", "b"}) == std::vector<float>{1, 2});
    std::ofstream(path, std::ios::binary) << gzip_stored("<html>");
    CHECK(contains(error_of([&] { data::read_csv(path); }), "is a web page"));
  }
  const UseCodec none(nullptr);
  CHECK(contains(error_of([&] { data::read_csv(path); }),
                 "t.csv.gz is compressed by gzip, which this program cannot read: decompress it "
                 "(gunzip), or include"));
}
