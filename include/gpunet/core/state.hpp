// The state of objects as named values: one function per class writes it to a checkpoint and reads
// it back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/error.hpp>
#include <gpunet/core/shape.hpp>

namespace gpunet {

// A visitor of the state of an object, which calls it with every value that it needs to resume
// after a restart:
//   void visit_state(StateVisitor& state) { state.value("step", step_); }
// A visitor that writes leaves the values alone. One that reads visits twice: first to check that
// all values are there, then to set them, so that an error changes nothing. Values that follow from
// others are set where is_reading().
class StateVisitor {
 public:
  StateVisitor(const StateVisitor&) = delete;
  StateVisitor& operator=(const StateVisitor&) = delete;
  virtual ~StateVisitor() = default;

  bool is_writing() const { return pass_ == Pass::write; }
  bool is_reading() const { return pass_ == Pass::read; }

  // One number.
  void value(std::string_view name, double& x) { array(name, {}, std::span(&x, 1)); }
  void value(std::string_view name, index_t& x) { array(name, {}, std::span(&x, 1)); }
  void value(std::string_view name, bool& x) {
    index_t number = x;
    value(name, number);
    x = number != 0;
  }

  // A number that is counted up from 0. Throws Error when reading unless it is from 0 to 2^53: the
  // next ones do not overflow.
  void count(std::string_view name, index_t& x) {
    value(name, x);
    if (is_reading()) check_count(name, x);
  }

  // Writes `here`. Returns it, or when reading the number that was written.
  index_t number(std::string_view name, index_t here) {
    if (!is_writing()) return written_number(full(name));
    value(name, here);
    return here;
  }

  // Writes a number that the constructor of the object sets. Throws Error when reading if another
  // was written.
  void option(std::string_view name, double here) {
    if (is_writing()) return value(name, here);
    check_option(full(name), here);
  }

  // The elements of a std::string or a std::vector of bytes, of the written length.
  template <class Bytes>
  requires(sizeof(typename Bytes::value_type) == 1) void bytes(std::string_view name, Bytes& x) {
    const auto size = static_cast<std::size_t>(
        number(std::string(name) + ".size", static_cast<index_t>(x.size())));
    if (is_reading()) x.resize(size);
    if (size > 0)
      visit(full(name), {static_cast<index_t>(size)},
            {reinterpret_cast<std::uint8_t*>(x.data()), pass_ == Pass::check ? 0 : size});
  }

  // Strings. Their number is written too.
  void strings(std::string_view name, std::vector<std::string>& x) {
    const index_t size = number(std::string(name) + ".size", static_cast<index_t>(x.size()));
    require(size >= 0, "gpunet::StateVisitor: ", full(name), " was written with ", size,
            " strings (want 0 or more), read another file");
    if (is_reading()) x.resize(static_cast<std::size_t>(size));
    std::string other;  // for checking
    for (index_t i = 0; i < size; ++i)
      bytes(concat(name, '.', i), pass_ == Pass::check ? other : x[static_cast<std::size_t>(i)]);
  }

  // Numbers of these sizes in row-major order.
  void array(std::string_view name, const Sizes& sizes, std::span<float> x) {
    visit(full(name), sizes, x);
  }
  void array(std::string_view name, const Sizes& sizes, std::span<double> x) {
    visit(full(name), sizes, x);
  }
  void array(std::string_view name, const Sizes& sizes, std::span<index_t> x) {
    visit(full(name), sizes, x);
  }
  // Numbers on a device. Integers and bools are written as index_t.
  template <class T, class D>
  void array(std::string_view name, const Sizes& sizes, D& device, T* data) {
    using Written = std::conditional_t<std::is_floating_point_v<T>, T, index_t>;
    const auto size = static_cast<std::size_t>(sizes.numel()), bytes = size * sizeof(T);
    const auto values = std::make_unique<T[]>(size);
    if (is_writing() && bytes > 0 && wants_arrays()) device.download(values.get(), data, bytes);
    if constexpr (std::is_same_v<T, Written>) {
      array(name, sizes, std::span<T>(values.get(), size));
    } else {
      std::vector<Written> written(values.get(), values.get() + size);
      array(name, sizes, std::span<Written>(written));
      for (std::size_t i = 0; i < size; ++i)
        values[i] = static_cast<T>(written[i]);
    }
    if (is_reading() && bytes > 0) device.upload(data, values.get(), bytes);
  }

  // Counts on a device, as count().
  template <class D>
  void counts(std::string_view name, const Sizes& sizes, D& device, index_t* data) {
    array(name, sizes, device, data);
    if (!is_reading()) return;
    std::vector<index_t> values(static_cast<std::size_t>(sizes.numel()));
    device.download(values.data(), data, values.size() * sizeof(index_t));
    for (const index_t x : values)
      check_count(name, x);
  }

  // Returns whether the value is part of the state: `here` when writing, whether it was written
  // when reading.
  bool has(std::string_view name, bool here) {
    return is_writing() ? here : was_written(full(name));
  }

  // The names that `object` visits begin with "name.".
  template <class Object>
  void part(std::string_view name, Object& object) {
    const std::size_t before = prefix_.size();
    prefix_ += name;
    prefix_ += '.';
    object.visit_state(*this);
    prefix_.resize(before);
  }

 protected:
  enum class Pass { write, check, read };

  StateVisitor() = default;

  virtual void visit(const std::string& name, const Sizes& sizes, std::span<float> x) = 0;
  virtual void visit(const std::string& name, const Sizes& sizes, std::span<double> x) = 0;
  virtual void visit(const std::string& name, const Sizes& sizes, std::span<index_t> x) = 0;
  virtual void visit(const std::string& name, const Sizes& sizes, std::span<std::uint8_t> x) = 0;
  virtual index_t written_number(const std::string& name) = 0;
  virtual void check_option(const std::string& name, double here) = 0;
  virtual bool was_written(const std::string& name) const = 0;
  // Returns whether the numbers of arrays on a device matter, which have to be copied for it.
  virtual bool wants_arrays() const { return true; }

  Pass pass_ = Pass::write;

 private:
  void check_count(std::string_view name, index_t x) const {
    constexpr index_t most = index_t{1} << 53;
    if (x < 0 || x > most) [[unlikely]]
      throw_error(Error(concat("gpunet::StateVisitor: the count ", full(name), " was written as ",
                               x, " (want 0 to ", most, "), read another file")));
  }
  std::string full(std::string_view name) const { return prefix_ + std::string(name); }

  std::string prefix_;
};

// An object with a state: networks, optimizers, schedules, AveragedModel, GradScaler, Generator,
// and your own.
template <class X>
concept Stateful = requires(X& x, StateVisitor& state) {
  x.visit_state(state);
};

}  // namespace gpunet
