// Bodies of csv.hpp.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <type_traits>

#include <gpunet/core/text.hpp>
#include <gpunet/data/csv.hpp>
#include <gpunet/io/file.hpp>

namespace gpunet::data {

namespace detail {

// The fields of a table, as parts of the text.
struct CsvRows {
  std::vector<std::string_view> fields = {};  // [lines.size()][width]
  std::vector<index_t> lines = {};            // the line of the text where each row begins
  std::size_t width = 0;
};

// Splits a text into one or more rows of equal length. Errors name the line.
class CsvReader {
 public:
  // `path` is for messages.
  CsvReader(std::span<char> text, const std::string& path, char separator)
      : text_(text), path_(path), separator_(separator) {}

  // Splits the text into fields. Removes quotes in place.
  CsvRows read() {
    require(!is_break(separator_) && separator_ != '"',
            "gpunet::data::read_csv: a separator that is a quote or a line break, give another");
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    char* at = text_.data();
    char* const end = at + text_.size();
    if (std::string_view(at, text_.size()).starts_with(byte_order_mark)) at += byte_order_mark.size();
    for (index_t line = 1; at < end;) {
      if (is_break(*at)) {  // an empty line
        at = after_break(at, end);
        ++line;
        continue;
      }
      const std::size_t before = rows_.fields.size();
      const index_t first_line = line;
      at = read_row(at, end, line);
      const std::size_t count = rows_.fields.size() - before;
      if (rows_.lines.empty()) rows_.width = count;
      require(count == rows_.width, "gpunet::data::read_csv: ", path_, ":", first_line, ": ", count,
              " fields (want ", rows_.width, " as in the first line): look for a missing or an extra '", separator_,
              "' or quote");
      rows_.lines.push_back(first_line);
    }
    require(!rows_.lines.empty(), "gpunet::data::read_csv: ", path_, " is empty (want a table)");
    return std::move(rows_);
  }

 private:
  static bool is_break(char c) { return c == '\n' || c == '\r'; }
  // Returns the position after the line break at `at`: \n, \r\n or \r.
  static char* after_break(char* at, char* end) {
    return at + (*at == '\r' && at + 1 < end && at[1] == '\n' ? 2 : 1);
  }

  // Reads the fields of a row and returns the beginning of the next row.
  char* read_row(char* at, char* end, index_t& line) {
    while (true) {
      if (at < end && *at == '"')
        at = read_quoted(at + 1, end, line);
      else
        at = read_plain(at, end);
      if (at < end && *at == separator_) {
        ++at;
        continue;
      }
      require(at == end || is_break(*at), "gpunet::data::read_csv: ", path_, ":", line,
              ": text after the closing quote of a field (want '", separator_, "' or the end of the line)");
      ++line;
      return at < end ? after_break(at, end) : end;
    }
  }

  char* read_plain(char* at, char* end) {
    char* const begin = at;
    while (at < end && *at != separator_ && !is_break(*at))
      ++at;
    rows_.fields.emplace_back(begin, static_cast<std::size_t>(at - begin));
    return at;
  }

  char* read_quoted(char* at, char* end, index_t& line) {
    char* const begin = at;
    char* to = at;
    const index_t first_line = line;
    while (true) {
      require(at < end, "gpunet::data::read_csv: ", path_, ":", first_line,
              ": a quote opens here and is never closed, close it (a quote inside a field is written twice)");
      if (*at == '"') {
        if (at + 1 == end || at[1] != '"') break;
        ++at;
      }
      line += is_break(*at) && after_break(at, end) == at + 1;  // \r\n is counted once
      *to++ = *at++;
    }
    rows_.fields.emplace_back(begin, static_cast<std::size_t>(to - begin));
    return at + 1;
  }

  std::span<char> text_;
  const std::string& path_;
  char separator_;
  CsvRows rows_;
};

template <class T>
struct Number {
  T value;
  bool ok, fits;
};
// Returns whether a number that is out of range is too small, by the position of its first digit and its exponent.
GPUNET_INLINE bool is_below_one(std::string_view text) {
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = std::min(text.find('.'), e), first = text.find_first_of("123456789");
  double exponent = 0;  // of any length
  const std::size_t digits = e + (text.substr(e).starts_with("e+") || text.substr(e).starts_with("E+") ? 2 : 1);
  if (e < text.size()) std::from_chars(text.data() + digits, text.data() + text.size(), exponent);
  return static_cast<double>(point) - static_cast<double>(first) + exponent < 0;
}
// Parses a number with optional blanks around it, independently of the locale.
template <class T>
Number<T> parse_number(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = end == text.data() + text.size(), fits = error != std::errc::result_out_of_range;
  if constexpr (std::is_floating_point_v<T>)
    if (is_whole && !fits && is_below_one(text)) return {text.front() == '-' ? -T{} : T{}, true, true};
  return {value, is_whole && error == std::errc(), fits};
}

// Returns the text for a message; escapes NUL bytes, which would end it.
GPUNET_INLINE std::string shown(std::string_view text) {
  using namespace std::string_view_literals;
  return gpunet::detail::escaped(text, {{'\0', "\\0"sv}});
}

}  // namespace detail

GPUNET_INLINE Table Table::parse(std::vector<char> text, std::string path, const CsvOptions& options) {
  return Table(std::move(text), std::move(path), options);
}

GPUNET_INLINE Table::Table(std::vector<char> text, std::string path, const CsvOptions& options)
    : path_(std::move(path)), allow_nan_(options.allow_nan), text_(std::move(text)) {
  detail::CsvRows rows = detail::CsvReader(text_, path_, options.separator).read();
  fields_ = std::move(rows.fields), lines_ = std::move(rows.lines), width_ = rows.width;
  if (options.header) {
    columns_.assign(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(width_));
    fields_.erase(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(width_));
    lines_.erase(lines_.begin());
  } else {
    for (std::size_t i = 0; i < width_; ++i)
      columns_.push_back(std::to_string(i));
  }
  sort_names();
}

GPUNET_INLINE void Table::sort_names() {
  for (std::size_t i = 0; i < width_; ++i)
    by_name_.push_back(i);
  std::sort(by_name_.begin(), by_name_.end(), [this](std::size_t a, std::size_t b) {
    return std::pair(std::string_view(columns_[a]), a) < std::pair(std::string_view(columns_[b]), b);
  });
  for (std::size_t i = 1; i < width_; ++i)
    require(columns_[by_name_[i - 1]] != columns_[by_name_[i]], "gpunet::data::read_csv: ", path_, ": columns ",
            by_name_[i - 1] + 1, " and ", by_name_[i] + 1, " are both called '",
            detail::shown(columns_[by_name_[i]]), "', rename one");
}

GPUNET_INLINE std::size_t Table::position(const std::string& column) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), column,
                                   [this](std::size_t i, const std::string& name) { return columns_[i] < name; });
  if (at != by_name_.end() && columns_[*at] == column) return *at;
  const auto quoted = [](const std::string& name) {
    return concat('\'', detail::shown(name), '\'');
  };
  throw_error(Error(concat("gpunet::data::Table: ", path_, " has no column '", detail::shown(column), "' (it has ",
                           gpunet::detail::short_list(columns_, quoted), ")")));
}

GPUNET_INLINE std::string Table::where(index_t row, std::size_t column) const {
  return concat("gpunet::data::Table: ", path_, ":", lines_[static_cast<std::size_t>(row)], ": column '",
                detail::shown(columns_[column]), "': ");
}

GPUNET_INLINE void Table::refuse(index_t row, std::size_t column, std::string_view why) const {
  throw_error(
      Error(concat(where(row, column), "'", detail::shown(field(row, column).substr(0, 40)), "' is not finite ",
                   why, ", fill the field, leave the row out, or read the table with {.allow_nan = true}")));
}

template <class T>
T Table::number(index_t row, std::size_t column) const {
  const std::string_view text = field(row, column);
  const auto [value, ok, fits] = detail::parse_number<T>(text);
  if (!ok)
    require(false, where(row, column), "'", detail::shown(text.substr(0, 40)),
            fits ? "' is not a number" : "' is out of range",
            text.empty() ? ", fill the field or leave the row out"
                         : ", fix the line, or read a column of words with categories()");
  if constexpr (std::is_floating_point_v<T>)
    if (!allow_nan_ && !std::isfinite(value)) refuse(row, column, "(a loss would be NaN)");
  return value;
}

template <class T>
std::vector<T> Table::numbers(std::span<const std::string> columns) const {
  std::vector<std::size_t> positions;
  for (const std::string& column : columns)
    positions.push_back(position(column));
  std::vector<T> values;
  values.reserve(lines_.size() * positions.size());
  for (index_t row = 0; row < rows(); ++row)
    for (std::size_t i : positions)
      values.push_back(number<T>(row, i));
  return values;
}

#if GPUNET_COMPILED  // all types of std::from_chars
template std::vector<float> Table::numbers(std::span<const std::string>) const;
template std::vector<double> Table::numbers(std::span<const std::string>) const;
template std::vector<long double> Table::numbers(std::span<const std::string>) const;
template std::vector<char> Table::numbers(std::span<const std::string>) const;
template std::vector<signed char> Table::numbers(std::span<const std::string>) const;
template std::vector<unsigned char> Table::numbers(std::span<const std::string>) const;
template std::vector<short> Table::numbers(std::span<const std::string>) const;
template std::vector<unsigned short> Table::numbers(std::span<const std::string>) const;
template std::vector<int> Table::numbers(std::span<const std::string>) const;
template std::vector<unsigned> Table::numbers(std::span<const std::string>) const;
template std::vector<long> Table::numbers(std::span<const std::string>) const;
template std::vector<unsigned long> Table::numbers(std::span<const std::string>) const;
template std::vector<long long> Table::numbers(std::span<const std::string>) const;
template std::vector<unsigned long long> Table::numbers(std::span<const std::string>) const;
#endif

GPUNET_INLINE Categories Table::categories(const std::string& column) const {
  const std::size_t i = position(column);
  bool are_numbers = true, has_nan = false;
  index_t not_finite = -1;  // the first row with such a number
  for (index_t row = 0; row < rows(); ++row) {
    if (field(row, i).empty())
      require(false, where(row, i), "the field is empty (want a class), fill it or leave the row out");
    const auto [value, ok, fits] = detail::parse_number<double>(field(row, i));
    are_numbers &= ok;
    if (!ok || std::isfinite(value)) continue;
    has_nan |= std::isnan(value);
    if (not_finite < 0) not_finite = row;
  }
  if (are_numbers && not_finite >= 0 && !allow_nan_) refuse(not_finite, i, "(want a class)");
  are_numbers &= !has_nan;  // NaN cannot be sorted as a number
  struct Class {
    std::string_view name;
    label_t number;
  };
  std::map<std::pair<double, std::string_view>, Class> classes;
  const auto key = [&](index_t row) {
    const std::string_view text = field(row, i);
    const double value = are_numbers ? detail::parse_number<double>(text).value : 0;
    const bool is_exact = are_numbers && std::abs(value) < 0x1p53;  // larger numbers may round to the same double
    return std::pair(value, is_exact ? std::string_view() : text);
  };
  for (index_t row = 0; row < rows(); ++row)
    classes.try_emplace(key(row), Class{field(row, i), 0});
  Categories categories;
  for (auto& [value, of] : classes) {
    of.number = static_cast<label_t>(categories.names.size());
    categories.names.emplace_back(of.name);
  }
  for (index_t row = 0; row < rows(); ++row)
    categories.values.push_back(classes.find(key(row))->second.number);
  return categories;
}

GPUNET_INLINE Table read_csv(const std::string& path, const CsvOptions& options) {
  io::InputFile file(path);
  std::vector<char> text(file.size());
  file.read(std::as_writable_bytes(std::span(text)));
  return Table::parse(std::move(text), path, options);
}

}  // namespace gpunet::data
