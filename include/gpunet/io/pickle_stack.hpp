// The stack and the memo on which the opcodes of a pickle work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/byte_reader.hpp>
#include <gpunet/io/pickle_value.hpp>

namespace gpunet::io::detail {

// Values under construction. Memory grows with the bytes that were read, whatever they say: an opcode makes at most three
// values, and copies no more items than were read.
class PickleStack {
 protected:
  using Kind = PickleValue::Kind;

  PickleStack(ByteReader& bytes, std::size_t most_values) : bytes_(bytes), most_values_(most_values) {}

  void begin_opcode() { begin_ = bytes_.position(); }

  // Puts the position back to the beginning of the opcode.
  [[noreturn]] void fail(std::string_view what, std::string_view advice = ByteReader::default_advice) {
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
  // A value that is there already.
  void push_again(std::uint32_t value) { stack_.push_back(value); }

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
  // The last value, or a mark in its place.
  void drop() {
    if (stack_.empty()) fail("a value that is not there");
    stack_.pop_back();
  }

  // Adds items to the value at the top. An object that gets items is a dict or a list, whatever its class.
  void extend(Kind kind, const std::vector<std::uint32_t>& items) {
    PickleValue& value = pickle_.values[top()];
    if (value.kind == Kind::object) value.kind = kind, value.items.clear();
    if (value.kind != kind) fail("items of something that has none");
    if (kind == Kind::dict && items.size() % 2 != 0) fail("a key without a value");
    if (kind != Kind::set) value.items.insert(value.items.end(), items.begin(), items.end());
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

  // Python numbers what it remembers from 0 on, so that no number is larger than there are values.
  void remember(std::uint32_t number) {
    const std::uint32_t value = top();
    if (number > pickle_.values.size()) fail(concat("the number ", number, " of the memo, which is too large"));
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
  std::uint32_t remembered_ = 0;  // in the memo
  std::size_t begin_ = 0;         // of the opcode
  std::size_t copied_ = 0;        // items
};

}  // namespace gpunet::io::detail
