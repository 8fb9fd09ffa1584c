// Element-wise work on arrays as a program, which expressions write and a device runs.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <gpunet/core/shape.hpp>
#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/tensor/element_ops.hpp>
#include <gpunet/tensor/element_type.hpp>

namespace gpunet::detail {

// Distances between neighbors along each dimension, in elements. 0: one element is repeated.
using Strides = std::array<index_t, Sizes::max_rank>;

// Returns the strides of a dense row-major array, and whether strides are dense.
Strides dense_strides(const Sizes& sizes);
bool is_dense(const Sizes& sizes, const Strides& strides);

// An array of any strides, or a number.
struct Operand {
  const void* data = nullptr;  // on the device; null for a number
  std::uint64_t number = 0;    // its bits
  ElementType type = ElementType::f32;
  Sizes sizes{};
  Strides strides{};

  Operand() {}
  Operand(const void* memory, ElementType element, const Sizes& shape, const Strides& distances)
      : data(memory), type(element), sizes(shape), strides(distances) {}
  // Member by member: compilers copy the whole more slowly.
  Operand(const Operand& other)
      : data(other.data),
        number(other.number),
        type(other.type),
        sizes(other.sizes),
        strides(other.strides) {}
  Operand& operator=(const Operand& other) {
    data = other.data;
    number = other.number;
    type = other.type;
    sizes = other.sizes;
    strides = other.strides;
    return *this;
  }

  template <class T>
  static Operand of_number(T value) {
    Operand operand;
    __builtin_memcpy(&operand.number, &value, sizeof value);
    operand.type = element_type<T>;
    return operand;
  }
};

// One step of a program: its operands are earlier values.
struct ElementStep {
  Loop loop;  // of Host
  element::Code code;
  ElementType type, result;  // of its operands, of its result
  std::uint8_t operands[3];

  ElementStep() {}
  ElementStep(Loop host_loop, element::Code op, ElementType of, ElementType makes)
      : loop(host_loop), code(op), type(of), result(makes) {}
};

// The most arrays and numbers, and the most steps, of a program.
inline constexpr int most_program_operands = 12, most_program_steps = 24;

// A value of a program: an operand, or first_step plus the number of a step.
inline constexpr std::uint8_t first_step = 64;

// An expression as a program, whose operands may have any shapes that broadcast. Copies its used
// part.
class ElementProgram {
 public:
  ElementProgram() = default;
  explicit ElementProgram(const Operand& operand)
      : operand_count_(1), type_(operand.type), sizes_(operand.sizes) {
    operands_.items[0] = operand;
  }
  ElementProgram(const ElementProgram& other) { *this = other; }
  ElementProgram& operator=(const ElementProgram& other);

  const Sizes& sizes() const { return sizes_; }
  ElementType type() const { return type_; }
  std::span<const Operand> operands() const {
    return {operands_.items, static_cast<std::size_t>(operand_count_)};
  }
  std::span<const ElementStep> steps() const {
    return {steps_, static_cast<std::size_t>(step_count_)};
  }
  // The value that is the result.
  std::uint8_t result() const { return result_; }
  bool is_operand() const { return result_ < first_step; }

  // Returns whether a step with further values can be added.
  bool has_room_for(const ElementProgram& b) const {
    return operand_count_ + b.operand_count_ <= most_program_operands &&
           step_count_ + b.step_count_ + 1 <= most_program_steps;
  }
  // Add a step that works on the result, and on the results of others, which become part of this
  // program. Throw Error for shapes that do not broadcast.
  void apply(const ElementStep& step);
  void apply(const ElementStep& step, const ElementProgram& b, std::string_view function);
  void apply(const ElementStep& step, const ElementProgram& b, const ElementProgram& c,
             std::string_view function);
  // Replaces the layout of a program that is an array; the offset is in elements.
  void use_layout(index_t offset, const Sizes& sizes, const Strides& strides) {
    Operand& array = operands_.items[0];
    if (array.data)
      array.data = static_cast<const std::byte*>(array.data) + offset * bytes_of(type_);
    array.sizes = sizes_ = sizes;
    array.strides = strides;
  }
  // Repeats elements to another shape. Throws Error if it does not fit.
  void expand(const Sizes& sizes, std::string_view function);

 private:
  std::uint8_t append(const ElementProgram& other, std::string_view function);
  void finish(ElementStep step, std::array<std::uint8_t, 3> values);

  std::uint8_t operand_count_ = 0, step_count_ = 0, result_ = 0;
  ElementType type_{};
  Sizes sizes_{};
  // Not initialized: most of them are not used.
  template <class X, std::size_t n>
  union Uninitialized {
    X items[n];
    Uninitialized() {}
  };
  Uninitialized<Operand, most_program_operands> operands_;
  ElementStep steps_[most_program_steps];
};

// How the elements of an array lie in the order of a program.
enum class ArrayOrder : std::uint8_t { number, dense, strided };

// An operand or a result of a program that runs.
struct ProgramArray {
  union {
    std::byte* data;
    std::uint64_t number;
  };
  ElementType type;
  ArrayOrder order;
  index_t strides[Sizes::max_rank];  // of the program's dimensions

  GPUNET_FN index_t offset(index_t i, int rank, const index_t* extents) const {
    if (order == ArrayOrder::dense) return i;
    index_t offset = 0;
    for (int d = rank - 1; d > 0; --d) {
      offset += i % extents[d] * strides[d];
      i /= extents[d];
    }
    return rank > 0 ? offset + i * strides[0] : 0;
  }
};

// A program with all sizes set, over indices i < elements of the result in row-major order.
struct RunnableProgram {
  int rank = 0, operand_count = 0, step_count = 0;
  std::uint8_t result = 0;
  ElementType type{};
  index_t elements = 0;
  index_t extents[Sizes::max_rank];
  ProgramArray operands[most_program_operands];
  ElementStep steps[most_program_steps];
};

// Returns the program, and sets `out` up for its elements in memory of these strides. `order` lists
// the dimensions, outermost first; empty: as they are.
RunnableProgram runnable(const ElementProgram& program, std::span<const int> order = {},
                         ProgramArray* out = nullptr, const Strides& out_strides = {});

// An element of any type.
union AnyElement {
  float f32;
  double f64;
  std::int32_t i32;
  std::int64_t i64;
  std::uint8_t u8;
  bool boolean;

  template <class T>
  GPUNET_FN T get() const {
    T value;
    __builtin_memcpy(&value, this, sizeof value);
    return value;
  }
  template <class T>
  GPUNET_FN static AnyElement of(T value) {
    AnyElement element;
    element.i64 = 0;
    __builtin_memcpy(&element, &value, sizeof value);
    return element;
  }
};

// Interprets one step for one element: the plain version, and that of Cuda.
template <class T>
GPUNET_FN AnyElement run_step(element::Code code, AnyElement a, AnyElement b, AnyElement c = {}) {
  using element::Code;
  const T x = a.get<T>(), y = b.get<T>(), z = c.get<T>();
  switch (code) {
#define GPUNET_CASE1(Name) \
  case Code::Name:         \
    return AnyElement::of(element::Name{}(x));
#define GPUNET_CASE2(Name) \
  case Code::Name:         \
    return AnyElement::of(element::Name{}(x, y));
#define GPUNET_FUNCTION_CASE(scope, Name) \
  case Code::Name:                        \
    return AnyElement::of(element::Apply<gpunet::scope::Name>{}(x));
#define GPUNET_FUNCTION_CASE1(scope, Name) \
  case Code::Name:                         \
    return AnyElement::of(element::Apply<gpunet::scope::Name>{}(x, y));
#define GPUNET_FUNCTION_CASE2(scope, Name) \
  case Code::Name:                         \
    return AnyElement::of(element::Apply<gpunet::scope::Name>{}(x, y, z));
    GPUNET_COMPARISONS(GPUNET_CASE2)
    default:
      break;
  }
  if constexpr (!std::is_same_v<T, bool>) switch (code) {
      GPUNET_BINARY_OPS(GPUNET_CASE2)
      GPUNET_UNARY_OPS(GPUNET_CASE1)
      GPUNET_NUMBER_FUNCTIONS(GPUNET_FUNCTION_CASE)
      default:
        break;
    }
  if constexpr (std::is_floating_point_v<T>) switch (code) {
      GPUNET_BINARY_FLOAT_OPS(GPUNET_CASE2)
      GPUNET_TESTS(GPUNET_CASE1)
      GPUNET_FUNCTIONS_OF_0(GPUNET_FUNCTION_CASE)
      GPUNET_FUNCTIONS_OF_1(GPUNET_FUNCTION_CASE1)
      GPUNET_FUNCTIONS_OF_2(GPUNET_FUNCTION_CASE2)
      default:
        break;
    }
  else
    switch (code) {
      GPUNET_BIT_OPS(GPUNET_CASE2)
      default:
        break;
    }
#undef GPUNET_CASE1
#undef GPUNET_CASE2
#undef GPUNET_FUNCTION_CASE
#undef GPUNET_FUNCTION_CASE1
#undef GPUNET_FUNCTION_CASE2
  return a;
}

// Returns an element of one type converted to another.
GPUNET_FN inline AnyElement converted(AnyElement x, ElementType from, ElementType to) {
  return with_type(from, [&](auto source) {
    return with_type(to, [&](auto target) {
      return AnyElement::of(element::cast<decltype(target)>(x.get<decltype(source)>()));
    });
  });
}

// Returns element i of an array of elements of a type.
GPUNET_FN inline AnyElement loaded(const std::byte* data, ElementType type, index_t i) {
  return with_type(type, [&](auto element) {
    return AnyElement::of(reinterpret_cast<const decltype(element)*>(data)[i]);
  });
}

// Returns element i of the result.
GPUNET_FN inline AnyElement evaluate(const RunnableProgram& program, index_t i) {
  AnyElement values[most_program_operands + most_program_steps];
  for (int k = 0; k < program.operand_count; ++k) {
    const ProgramArray& x = program.operands[k];
    if (x.order == ArrayOrder::number)
      values[k].i64 = static_cast<std::int64_t>(x.number);
    else
      values[k] = loaded(x.data, x.type, x.offset(i, program.rank, program.extents));
  }
  const auto at = [&](std::uint8_t value) -> AnyElement& {
    return values[value < first_step ? value : most_program_operands + value - first_step];
  };
  for (int k = 0; k < program.step_count; ++k) {
    const ElementStep& step = program.steps[k];
    const AnyElement a = at(step.operands[0]), b = at(step.operands[1]);
    AnyElement& result = values[most_program_operands + k];
    if (step.code == element::Code::Where)
      result = a.boolean ? b : at(step.operands[2]);
    else if (step.code == element::Code::Cast)
      result = converted(a, step.type, step.result);
    else
      result = with_type(step.type, [&](auto element) {
        return run_step<decltype(element)>(step.code, a, b, at(step.operands[2]));
      });
  }
  return at(program.result);
}

// out[i] = the result of a program. One index = one element.
struct RunElements {
  static constexpr bool one_copy = true;
  RunnableProgram program;
  ProgramArray out;

  GPUNET_FN void operator()(index_t i) const {
    const AnyElement value = evaluate(program, i);
    const index_t at = out.offset(i, program.rank, program.extents);
    with_type(out.type, [&](auto element) {
      reinterpret_cast<decltype(element)*>(out.data)[at] = value.get<decltype(element)>();
      return 0;
    });
  }
};

// Returns the most elements of a block of a program.
index_t most_in_block(const RunnableProgram& program);

// Computes blocks of consecutive elements of a program on Host: each step is one loop over a block,
// which stays in the L1 cache. A chain of steps reads and writes memory once.
class BlockRunner {
 public:
  // `most` is the most elements of a block that will be asked for; block() at most.
  BlockRunner(const RunnableProgram& program, index_t most);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;

  // Elements of a block.
  index_t block() const { return block_; }
  // Computes `count` elements from `begin` on and returns their address: in `out` if that is not
  // null and they are computed; else inside of an operand or of the working memory, until the next
  // call.
  const void* run(index_t begin, index_t count, void* out);

 private:
  static constexpr std::size_t own_bytes = 24576;

  std::byte* slot(int k) { return memory_ + static_cast<std::size_t>(k) * slot_bytes_; }

  const RunnableProgram& program_;
  index_t block_;
  std::size_t slot_bytes_;
  std::byte* memory_;
  const void* values_[most_program_operands + most_program_steps];
  std::int8_t slots_[most_program_operands + most_program_steps];
  alignas(64) std::byte own_[own_bytes];
};

// Writes the elements of a program to `out`.
void run_elements(Host& device, const RunnableProgram& program, const ProgramArray& out);
#if GPUNET_CUDA
inline void run_elements(Cuda& device, const RunnableProgram& program, const ProgramArray& out) {
  for_each(device, program.elements, RunElements{program, out});
}
#endif

// The loops of Host over blocks. The arrays belong to a step.
struct BlockArrays {
  void* y;
  const void* a;
  const void* b;
  const void* c;
};

template <class Op, class T>
struct UnaryLoop : BlockArrays {
  static constexpr element::Code code = Op::code;
  static constexpr ElementType type = element_type<T>;

  [[gnu::always_inline]] inline void operator()(index_t i) const {
    using R = decltype(Op{}(T{}));
    static_cast<R*>(y)[i] = Op{}(static_cast<const T*>(a)[i]);
  }
};
template <class Op, class T>
struct BinaryLoop : BlockArrays {
  [[gnu::always_inline]] inline void operator()(index_t i) const {
    using R = decltype(Op{}(T{}, T{}));
    static_cast<R*>(y)[i] = Op{}(static_cast<const T*>(a)[i], static_cast<const T*>(b)[i]);
  }
};
template <class Op, class T>
struct TernaryLoop : BlockArrays {
  [[gnu::always_inline]] inline void operator()(index_t i) const {
    static_cast<T*>(y)[i] =
        Op{}(static_cast<const T*>(a)[i], static_cast<const T*>(b)[i], static_cast<const T*>(c)[i]);
  }
};
template <class T>
struct WhereLoop : BlockArrays {
  [[gnu::always_inline]] inline void operator()(index_t i) const {
    // By bits, and not by ?:, which compilers do not vectorize.
    using Bits =
        std::conditional_t<sizeof(T) == 8, std::uint64_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint8_t>>;
    const Bits mask = static_cast<Bits>(-static_cast<Bits>(static_cast<const std::uint8_t*>(a)[i]));
    Bits yes, no;
    __builtin_memcpy(&yes, static_cast<const T*>(b) + i, sizeof yes);
    __builtin_memcpy(&no, static_cast<const T*>(c) + i, sizeof no);
    no = static_cast<Bits>(no ^ ((yes ^ no) & mask));
    __builtin_memcpy(static_cast<T*>(y) + i, &no, sizeof no);
  }
};
template <class To, class From>
struct CastLoop : BlockArrays {
  [[gnu::always_inline]] inline void operator()(index_t i) const {
    static_cast<To*>(y)[i] = element::cast<To>(static_cast<const From*>(a)[i]);
  }
};

// Returns the loop for an operation that compilers do not vectorize as UnaryLoop.
Loop vector_block_loop(element::Code code, ElementType type);

template <class F>
inline constexpr bool has_vector_block_loop = false;
template <class T>
inline constexpr bool has_vector_block_loop<UnaryLoop<element::Apply<functions::Sqrt>, T>> = true;
template <>
inline constexpr bool has_vector_block_loop<UnaryLoop<element::Apply<functions::Sin>, float>> =
    true;
template <>
inline constexpr bool has_vector_block_loop<UnaryLoop<element::Apply<functions::Cos>, float>> =
    true;
template <>
inline constexpr bool has_vector_block_loop<UnaryLoop<element::Apply<functions::Tan>, float>> =
    true;

// Returns the loop of Host for the path in use. The compiled library has all of them.
template <class F>
Loop block_loop() {
  if constexpr (has_vector_block_loop<F>)
    return vector_block_loop(F::code, F::type);
  else
    return loop_over<F>();
}

// Fills elements with one of them.
template <class E>
struct FillLoop {
  E value;
  E* y;
  [[gnu::always_inline]] inline void operator()(index_t i) const { y[i] = value; }
};

}  // namespace gpunet::detail

GPUNET_EXTERN_LOOP(gpunet::detail::RunElements);

// All loops over blocks that expressions use, each after GPUNET_LOOP_PREFIX.
#define GPUNET_BLOCK_LOOP(...) GPUNET_LOOP_PREFIX ::gpunet::detail::Loop block_loop<__VA_ARGS__>();
#define GPUNET_FLOAT_LOOPS(L, Name)          \
  GPUNET_BLOCK_LOOP(L<element::Name, float>) \
  GPUNET_BLOCK_LOOP(L<element::Name, double>)
#define GPUNET_INTEGER_LOOPS(L, Name)               \
  GPUNET_BLOCK_LOOP(L<element::Name, std::int32_t>) \
  GPUNET_BLOCK_LOOP(L<element::Name, std::int64_t>) \
  GPUNET_BLOCK_LOOP(L<element::Name, std::uint8_t>)
#define GPUNET_BOOL_LOOP(L, Name) GPUNET_BLOCK_LOOP(L<element::Name, bool>)
#define GPUNET_NUMBER_BINARY(Name) \
  GPUNET_FLOAT_LOOPS(BinaryLoop, Name) GPUNET_INTEGER_LOOPS(BinaryLoop, Name)
#define GPUNET_FLOAT_BINARY(Name) GPUNET_FLOAT_LOOPS(BinaryLoop, Name)
#define GPUNET_BIT_BINARY(Name) \
  GPUNET_INTEGER_LOOPS(BinaryLoop, Name) GPUNET_BOOL_LOOP(BinaryLoop, Name)
#define GPUNET_COMPARISON(Name) GPUNET_NUMBER_BINARY(Name) GPUNET_BOOL_LOOP(BinaryLoop, Name)
#define GPUNET_NUMBER_UNARY(Name) \
  GPUNET_FLOAT_LOOPS(UnaryLoop, Name) GPUNET_INTEGER_LOOPS(UnaryLoop, Name)
#define GPUNET_FLOAT_UNARY(Name) GPUNET_FLOAT_LOOPS(UnaryLoop, Name)
#define GPUNET_NUMBER_FUNCTION_LOOP(scope, Name) GPUNET_NUMBER_UNARY(Apply<gpunet::scope::Name>)
#define GPUNET_FUNCTION_LOOP(scope, Name) GPUNET_FLOAT_LOOPS(UnaryLoop, Apply<gpunet::scope::Name>)
#define GPUNET_FUNCTION_LOOP_OF_1(scope, Name) \
  GPUNET_FLOAT_LOOPS(BinaryLoop, Apply<gpunet::scope::Name>)
#define GPUNET_FUNCTION_LOOP_OF_2(scope, Name) \
  GPUNET_FLOAT_LOOPS(TernaryLoop, Apply<gpunet::scope::Name>)
#define GPUNET_LOOPS_OF_TYPE(To, A, B, C, D, E) \
  GPUNET_BLOCK_LOOP(WhereLoop<To>)              \
  GPUNET_BLOCK_LOOP(CastLoop<To, A>)            \
  GPUNET_BLOCK_LOOP(CastLoop<To, B>)            \
  GPUNET_BLOCK_LOOP(CastLoop<To, C>)            \
  GPUNET_BLOCK_LOOP(CastLoop<To, D>)            \
  GPUNET_BLOCK_LOOP(CastLoop<To, E>)
#define GPUNET_BLOCK_LOOPS                                                            \
  GPUNET_BINARY_OPS(GPUNET_NUMBER_BINARY)                                             \
  GPUNET_BINARY_FLOAT_OPS(GPUNET_FLOAT_BINARY)                                        \
  GPUNET_BIT_OPS(GPUNET_BIT_BINARY)                                                   \
  GPUNET_COMPARISONS(GPUNET_COMPARISON)                                               \
  GPUNET_UNARY_OPS(GPUNET_NUMBER_UNARY)                                               \
  GPUNET_NUMBER_FUNCTIONS(GPUNET_NUMBER_FUNCTION_LOOP)                                \
  GPUNET_FUNCTIONS_OF_0(GPUNET_FUNCTION_LOOP)                                         \
  GPUNET_FUNCTIONS_OF_1(GPUNET_FUNCTION_LOOP_OF_1)                                    \
  GPUNET_FUNCTIONS_OF_2(GPUNET_FUNCTION_LOOP_OF_2)                                    \
  GPUNET_TESTS(GPUNET_FLOAT_UNARY)                                                    \
  GPUNET_LOOPS_OF_TYPE(float, double, std::int32_t, std::int64_t, std::uint8_t, bool) \
  GPUNET_LOOPS_OF_TYPE(double, float, std::int32_t, std::int64_t, std::uint8_t, bool) \
  GPUNET_LOOPS_OF_TYPE(std::int32_t, float, double, std::int64_t, std::uint8_t, bool) \
  GPUNET_LOOPS_OF_TYPE(std::int64_t, float, double, std::int32_t, std::uint8_t, bool) \
  GPUNET_LOOPS_OF_TYPE(std::uint8_t, float, double, std::int32_t, std::int64_t, bool) \
  GPUNET_LOOPS_OF_TYPE(bool, float, double, std::int32_t, std::int64_t, std::uint8_t)

#if !GPUNET_COMPILED
#include <gpunet/tensor/element_program.ipp>
#else
namespace gpunet::detail {
#define GPUNET_LOOP_PREFIX extern template
GPUNET_BLOCK_LOOPS
#undef GPUNET_LOOP_PREFIX
}  // namespace gpunet::detail
#endif
