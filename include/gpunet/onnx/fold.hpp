// Operations on constants of an ONNX graph, computed while it is read: exporters write them around
// Reshape.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/onnx/known.hpp>

namespace gpunet::onnx::detail {

using io::detail::printable;

// Returns the strides of row-major elements for an operand that is broadcast to `out`: 0 along
// repeated dimensions.
inline std::vector<index_t> broadcast_strides(const Sizes& sizes, const Sizes& out) {
  std::vector<index_t> strides(static_cast<std::size_t>(out.rank()));
  index_t stride = 1;
  for (int i = sizes.rank() - 1, o = out.rank() - 1; i >= 0; --i, --o) {
    strides[static_cast<std::size_t>(o)] = sizes[i] == 1 ? 0 : stride;
    stride *= sizes[i];
  }
  return strides;
}

// One operation on constants.
class Folding {
 public:
  // `storage` stores the bytes of results with fractions. An input that is left out is null.
  Folding(const NodeInfo& node, std::vector<const Known*> inputs,
          std::deque<std::vector<std::byte>>& storage)
      : node_(node), inputs_(std::move(inputs)), storage_(storage) {}

  // Returns the result; nothing for an operation, or sizes, that are not computed here.
  std::optional<Known> run() {
    struct Rule {
      std::string_view op;
      std::optional<Known> (Folding::*fold)();
    };
    static constexpr Rule rules[] = {{"Add", &Folding::add},
                                     {"Cast", &Folding::cast},
                                     {"Ceil", &Folding::ceil},
                                     {"Concat", &Folding::concat},
                                     {"Constant", &Folding::constant},
                                     {"ConstantOfShape", &Folding::constant_of_shape},
                                     {"Div", &Folding::div},
                                     {"Equal", &Folding::equal},
                                     {"Expand", &Folding::expand},
                                     {"Floor", &Folding::floor},
                                     {"Gather", &Folding::gather},
                                     {"Identity", &Folding::identity},
                                     {"Mul", &Folding::mul},
                                     {"Neg", &Folding::neg},
                                     {"Pow", &Folding::pow},
                                     {"Range", &Folding::range},
                                     {"ReduceProd", &Folding::reduce_prod},
                                     {"Reshape", &Folding::reshape},
                                     {"Slice", &Folding::slice},
                                     {"Sqrt", &Folding::sqrt},
                                     {"Squeeze", &Folding::squeeze},
                                     {"Sub", &Folding::sub},
                                     {"Transpose", &Folding::transpose},
                                     {"Unsqueeze", &Folding::unsqueeze},
                                     {"Where", &Folding::where}};
    if (std::any_of(inputs_.begin(), inputs_.end(),
                    [](const Known* known) { return known && known->is_repeated; }))
      return repeated();
    for (const Rule& rule : rules)
      if (rule.op == node_.op) return (this->*rule.fold)();
    return std::nullopt;
  }

 private:
  using Result = std::optional<Known>;
  using Wide = gpunet::detail::WideExtent;

  const Known* input(std::size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  index_t integer(std::string_view name, index_t otherwise) const {
    const Attribute* found = node_.find(name);
    return found ? found->integer : otherwise;
  }
  // Returns integers of an input, or of an attribute where an older opset has them; nothing for
  // values that depend on the batch or are not there.
  std::optional<std::vector<index_t>> integers(std::size_t i, std::string_view attribute) const {
    if (const Attribute* found = node_.find(attribute)) return found->integers;
    const Known* known = input(i);
    if (!known || !known->is_small) return std::nullopt;
    std::vector<index_t> result;
    for (const Extent& extent : known->integers) {
      if (extent.batches != 0) return std::nullopt;
      result.push_back(extent.number);
    }
    return result;
  }

  static Known of_integers(const Sizes& sizes, std::vector<Extent> integers) {
    return {.sizes = sizes, .is_small = true, .integers = std::move(integers)};
  }
  Known floats(const Sizes& sizes, const std::vector<double>& numbers) {
    const std::vector<float> rounded(numbers.begin(), numbers.end());
    const auto bytes = std::as_bytes(std::span(rounded));
    storage_.emplace_back(bytes.begin(), bytes.end());
    Known known{.sizes = sizes};
    known.tensor.sizes = sizes;
    known.tensor.bytes = storage_.back();
    return known;
  }

  // Returns f of integers, or g of other numbers, element by element with broadcasting.
  template <class F, class G>
  Result pairwise(F f, G g) {
    const Known *a = input(0), *b = input(1);
    if (!a || !b) return std::nullopt;
    const std::optional<Sizes> out = broadcast_shapes(a->sizes, b->sizes);
    if (!out || !out->at_most(most_folded)) return std::nullopt;
    const auto each = [&](auto call) {
      const std::vector<index_t> of_a = broadcast_strides(a->sizes, *out),
                                 of_b = broadcast_strides(b->sizes, *out);
      for (index_t k = 0; k < out->numel(); ++k) {
        index_t rest = k, i = 0, j = 0;
        for (int d = out->rank() - 1; d >= 0; --d) {
          const index_t at = rest % (*out)[d];
          rest /= (*out)[d];
          i += at * of_a[static_cast<std::size_t>(d)], j += at * of_b[static_cast<std::size_t>(d)];
        }
        call(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
      }
    };
    if (a->is_small && b->is_small) {
      std::vector<Extent> result;
      bool exact = true;
      each([&](std::size_t i, std::size_t j) {
        const std::optional<Extent> extent = f(a->integers[i], b->integers[j]);
        exact = exact && extent.has_value();
        result.push_back(extent.value_or(Extent{}));
      });
      if (!exact) return std::nullopt;
      return of_integers(*out, std::move(result));
    }
    const auto x = numbers_of(*a), y = numbers_of(*b);
    if (!x || !y) return std::nullopt;
    std::vector<double> result;
    each([&](std::size_t i, std::size_t j) { result.push_back(g((*x)[i], (*y)[j])); });
    return floats(*out, result);
  }

  // Returns an extent if its parts fit into index_t.
  static std::optional<Extent> fitting(Wide number, Wide batches) {
    const Extent extent{static_cast<index_t>(number), static_cast<index_t>(batches)};
    if (extent.number != number || extent.batches != batches) return std::nullopt;
    return extent;
  }
  static std::optional<Extent> sum(const Extent& a, const Extent& b, int sign) {
    return fitting(Wide{a.number} + sign * Wide{b.number},
                   Wide{a.batches} + sign * Wide{b.batches});
  }
  static std::optional<Extent> product(const Extent& a, const Extent& b) {
    if (a.batches != 0 && b.batches != 0) return std::nullopt;
    return fitting(Wide{a.number} * b.number,
                   Wide{a.number} * b.batches + Wide{a.batches} * b.number);
  }
  static std::optional<Extent> quotient(const Extent& a, const Extent& b) {
    if (b.batches != 0) {  // of two multiples of the batch
      if (a.number != 0 || b.number != 0 || a.batches % b.batches != 0) return std::nullopt;
      return fitting(Wide{a.batches} / b.batches, 0);
    }
    if (b.number == 0 ||
        (a.batches != 0 && (a.number % b.number != 0 || a.batches % b.number != 0)))
      return std::nullopt;
    return fitting(Wide{a.number} / b.number, Wide{a.batches} / b.number);
  }

  Result add() {
    return pairwise([](const Extent& a, const Extent& b) { return sum(a, b, 1); }, std::plus<>());
  }
  Result sub() {
    return pairwise([](const Extent& a, const Extent& b) { return sum(a, b, -1); }, std::minus<>());
  }
  Result mul() { return pairwise(product, std::multiplies<>()); }
  Result div() { return pairwise(quotient, std::divides<>()); }
  Result equal() {
    return pairwise(
        [](const Extent& a, const Extent& b) -> std::optional<Extent> { return Extent{a == b}; },
        [](double a, double b) -> double { return a == b; });
  }
  Result pow() {
    return pairwise([](const Extent&, const Extent&) { return std::optional<Extent>(); },
                    [](double a, double b) { return std::pow(a, b); });
  }

  // Returns f of each number.
  template <class F>
  Result each_number(F f) {
    if (!input(0)) return std::nullopt;
    auto numbers = numbers_of(*input(0));
    if (!numbers) return std::nullopt;
    std::transform(numbers->begin(), numbers->end(), numbers->begin(), f);
    return floats(input(0)->sizes, *numbers);
  }
  Result sqrt() {
    return each_number([](double x) { return std::sqrt(x); });
  }
  Result floor() {
    return each_number([](double x) { return std::floor(x); });
  }
  Result ceil() {
    return each_number([](double x) { return std::ceil(x); });
  }
  Result neg() {
    if (!input(0) || !input(0)->is_small) return each_number([](double x) { return -x; });
    std::vector<Extent> result;
    for (const Extent& extent : input(0)->integers) {
      const auto negative = sum({}, extent, -1);
      if (!negative) return std::nullopt;
      result.push_back(*negative);
    }
    return of_integers(input(0)->sizes, std::move(result));
  }

  Result identity() {
    if (!input(0)) return std::nullopt;
    return *input(0);
  }
  Result cast() {
    constexpr index_t onnx_float = 1, onnx_float16 = 10, onnx_double = 11, onnx_bfloat16 = 16;
    if (!input(0)) return std::nullopt;
    const index_t to = integer("to", 0);
    if (to == onnx_float || to == onnx_float16 || to == onnx_double || to == onnx_bfloat16) {
      if (!input(0)->is_small) return *input(0);
      const auto numbers = numbers_of(*input(0));
      if (!numbers) return std::nullopt;
      return floats(input(0)->sizes, *numbers);
    }
    if (input(0)->is_small) return *input(0);
    const auto numbers = numbers_of(*input(0));
    if (!numbers) return std::nullopt;
    std::vector<Extent> result;
    for (const double number : *numbers) {
      if (!(std::fabs(number) < 0x1p62)) return std::nullopt;
      result.push_back({static_cast<index_t>(number)});
    }
    return of_integers(input(0)->sizes, std::move(result));
  }

  Result constant() {
    using Kind = Attribute::Kind;
    for (const Attribute& attribute : node_.attributes) {
      const auto count = [](const auto& list) {
        return Sizes{static_cast<index_t>(list.size())};
      };
      std::vector<Extent> list;
      for (const index_t number : attribute.integers)
        list.push_back({number});
      if (attribute.kind == Kind::tensor) return known_of(attribute.tensor, false);
      if (attribute.kind == Kind::integer) return of_integers({}, {{attribute.integer}});
      if (attribute.kind == Kind::integers) return of_integers(count(list), list);
      if (attribute.kind == Kind::number) return floats({}, {attribute.number});
      if (attribute.kind == Kind::numbers)
        return floats(count(attribute.numbers),
                      {attribute.numbers.begin(), attribute.numbers.end()});
    }
    return std::nullopt;
  }
  Result constant_of_shape() {
    const Attribute* value = node_.find("value");
    const Known known = value ? known_of(value->tensor, false) : floats({}, {0});
    if (known.sizes.numel() != 1) return std::nullopt;
    if (depends_on_batch(0)) return repeated(known);
    const auto extents = integers(0, "");
    const std::optional<Sizes> sizes = extents ? sizes_of(*extents) : std::nullopt;
    if (!sizes || !sizes->at_most(most_folded)) return std::nullopt;
    const auto count = static_cast<std::size_t>(sizes->numel());
    if (known.is_small) return of_integers(*sizes, std::vector<Extent>(count, known.integers[0]));
    return floats(*sizes, std::vector<double>(count, (*numbers_of(known))[0]));
  }
  bool depends_on_batch(std::size_t i) const {
    return input(i) && std::any_of(input(i)->integers.begin(), input(i)->integers.end(),
                                   [](const Extent& extent) { return extent.batches != 0; });
  }
  // Returns the element of a constant, repeated, if all its elements are equal.
  Result repeated(const Known& known) {
    const auto numbers = numbers_of(known);
    if (!numbers || numbers->empty() ||
        std::count(numbers->begin(), numbers->end(), numbers->front()) != std::ssize(*numbers))
      return std::nullopt;
    Known result = floats({}, {numbers->front()});
    result.is_repeated = true;
    return result;
  }
  // Returns the first input, repeated in any shape.
  Result repeated() {
    static constexpr std::string_view ops[] = {"Cast",  "Expand",  "Gather",    "Identity",
                                               "Slice", "Squeeze", "Transpose", "Unsqueeze"};
    if (!input(0) || !input(0)->is_repeated ||
        std::find(std::begin(ops), std::end(ops), node_.op) == std::end(ops))
      return std::nullopt;
    return *input(0);
  }
  static std::optional<Sizes> sizes_of(const std::vector<index_t>& extents) {
    if (extents.size() > std::size_t{Sizes::max_rank} ||
        std::any_of(extents.begin(), extents.end(), [](index_t n) { return n < 0; }))
      return std::nullopt;
    return Sizes(extents);
  }
  Result range() {
    const auto start = integers(0, ""), limit = integers(1, ""), delta = integers(2, "");
    if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 ||
        delta->size() != 1 || delta->at(0) == 0)
      return std::nullopt;
    std::vector<Extent> result;
    const Wide step = (*delta)[0], end = (*limit)[0];
    for (Wide at = (*start)[0]; step > 0 ? at < end : at > end; at += step) {
      if (std::ssize(result) == most_folded) return std::nullopt;
      result.push_back({static_cast<index_t>(at)});
    }
    const Sizes sizes{std::ssize(result)};
    return of_integers(sizes, std::move(result));
  }

  Result where() {
    const Known *condition = input(0), *a = input(1), *b = input(2);
    if (!condition || !a || !b || !condition->is_small || !a->is_small || !b->is_small ||
        a->sizes != b->sizes || a->sizes != condition->sizes)
      return std::nullopt;
    std::vector<Extent> result;
    for (std::size_t i = 0; i < a->integers.size(); ++i)
      result.push_back(condition->integers[i] == Extent{} ? b->integers[i] : a->integers[i]);
    return of_integers(a->sizes, std::move(result));
  }
  Result expand() {
    if (input(0) && depends_on_batch(1)) return repeated(*input(0));
    const auto extents = integers(1, "");
    const std::optional<Sizes> sizes = extents ? sizes_of(*extents) : std::nullopt;
    if (!sizes || !sizes->at_most(most_folded)) return std::nullopt;
    const Known ones =
        of_integers(*sizes, std::vector<Extent>(static_cast<std::size_t>(sizes->numel())));
    return Folding(node_, {input(0), &ones}, storage_).add();
  }
  Result reduce_prod() {
    if (!input(0) || !input(0)->is_small || input(0)->sizes.rank() != 1) return std::nullopt;
    std::optional<Extent> all = Extent{1};
    for (const Extent& extent : input(0)->integers)
      if (all) all = product(*all, extent);
    if (!all) return std::nullopt;
    return of_integers(integer("keepdims", 1) != 0 ? Sizes{1} : Sizes{}, {*all});
  }

  // Integers along one dimension.
  const Known* list(std::size_t i) const {
    const Known* known = input(i);
    return known && known->is_small && known->sizes.rank() == 1 ? known : nullptr;
  }
  // Tensors one after another, and rows of one: along the first dimension.
  Result of_parts(const Sizes& sizes, std::vector<io::TensorEntry> parts, bool is_initializer) {
    const auto differs = [&](const io::TensorEntry& part) {
      return part.dtype != parts[0].dtype;
    };
    constexpr std::size_t most = 1 << 12;
    if (parts.empty() || parts.size() > most || std::any_of(parts.begin(), parts.end(), differs))
      return std::nullopt;
    return Known{.sizes = sizes, .is_initializer = is_initializer, .parts = std::move(parts)};
  }
  bool is_first(index_t axis) const { return axis == 0 || axis == -input(0)->sizes.rank(); }
  Result concat_tensors() {
    std::vector<io::TensorEntry> parts;
    Sizes sizes = input(0)->sizes;
    index_t rows = 0;
    bool is_initializer = true;
    if (sizes.rank() == 0 || !is_first(integer("axis", 0))) return std::nullopt;
    for (const Known* known : inputs_) {
      if (!known || known->sizes.rank() != sizes.rank() || known->sizes.tail() != sizes.tail())
        return std::nullopt;
      const auto more = parts_of(*known);
      if (more.empty()) return std::nullopt;
      append_elements(parts, more, 0, known->sizes.numel());
      rows += known->sizes[0];
      is_initializer = is_initializer && known->is_initializer;
    }
    return of_parts(sizes.tail().with_front(rows), std::move(parts), is_initializer);
  }
  Result gather_rows(const std::vector<index_t>& indices) {
    const Known& from = *input(0);
    const auto source = parts_of(from);
    if (from.sizes.rank() == 0 || !is_first(integer("axis", 0)) || source.empty() ||
        input(1)->sizes.rank() != 1)
      return std::nullopt;
    std::vector<io::TensorEntry> parts;
    const index_t count = from.sizes[0], row = from.sizes.tail().numel();
    for (const index_t index : indices) {
      if (index < -count || index >= count) return std::nullopt;
      append_elements(parts, source, (index < 0 ? index + count : index) * row, row);
    }
    return of_parts(from.sizes.tail().with_front(std::ssize(indices)), std::move(parts),
                    from.is_initializer);
  }
  Result slice_rows(index_t first, index_t count) {
    const Known& from = *input(0);
    const auto axes = integers(3, "axes"), steps = integers(4, "steps");
    if ((axes && (axes->size() != 1 || !is_first((*axes)[0]))) || (steps && (*steps)[0] != 1))
      return std::nullopt;
    std::vector<io::TensorEntry> parts;
    const index_t row = from.sizes.tail().numel();
    append_elements(parts, parts_of(from), first * row, count * row);
    return of_parts(from.sizes.tail().with_front(count), std::move(parts), from.is_initializer);
  }
  Result concat() {
    if (input(0) && !input(0)->is_small) return concat_tensors();
    std::vector<Extent> all;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!list(i) || std::ssize(all) > most_folded) return std::nullopt;
      all.insert(all.end(), list(i)->integers.begin(), list(i)->integers.end());
    }
    const Sizes sizes{std::ssize(all)};
    return of_integers(sizes, std::move(all));
  }
  Result gather() {
    const auto indices = integers(1, "");
    if (input(0) && !input(0)->is_small && indices) return gather_rows(*indices);
    const Known* from = list(0);
    if (!from || !indices || integer("axis", 0) > 0 || integer("axis", 0) < -1) return std::nullopt;
    std::vector<Extent> result;
    const index_t count = std::ssize(from->integers);
    for (const index_t index : *indices) {
      if (index < -count || index >= count) return std::nullopt;
      result.push_back(from->integers[static_cast<std::size_t>(index < 0 ? index + count : index)]);
    }
    return of_integers(input(1)->sizes, std::move(result));
  }
  Result slice() {
    const auto starts = integers(1, "starts"), ends = integers(2, "ends"),
               steps = integers(4, "steps");
    const Known* from = input(0);
    if (!from || from->sizes.rank() == 0 || !starts || !ends || starts->size() != 1 ||
        ends->size() != 1 || (steps && (steps->size() != 1 || steps->at(0) < 1)))
      return std::nullopt;
    const index_t count = from->sizes[0], step = steps ? (*steps)[0] : 1;
    const auto within = [&](index_t at) {
      return std::clamp<index_t>(at < 0 ? at + count : at, 0, count);
    };
    if (!from->is_small) {
      const index_t first = within((*starts)[0]);
      return slice_rows(first, std::max<index_t>(0, within((*ends)[0]) - first));
    }
    if (from->sizes.rank() != 1) return std::nullopt;
    std::vector<Extent> result;
    const index_t end = within((*ends)[0]);
    for (index_t at = within((*starts)[0]); at < end; at += std::min(step, count))
      result.push_back(from->integers[static_cast<std::size_t>(at)]);
    const Sizes sizes{std::ssize(result)};
    return of_integers(sizes, std::move(result));
  }

  // Returns the same elements in another shape; a copy where they are not in order.
  Result reshaped(const Sizes& sizes) {
    if (!sizes.at_most(most_elements) || sizes.numel() != input(0)->sizes.numel())
      return std::nullopt;
    Known known = *input(0);
    known.sizes = known.tensor.sizes = sizes;
    if (known.tensor.strides.rank() == 0) return known;
    if (!sizes.at_most(most_folded)) return std::nullopt;
    return floats(sizes, *numbers_of(*input(0)));
  }
  Result reshape() {
    auto extents = integers(1, "shape");
    if (!input(0) || !extents || extents->size() > std::size_t{Sizes::max_rank})
      return std::nullopt;
    const Sizes& in = input(0)->sizes;
    index_t* computed = nullptr;
    index_t others = 1;
    for (std::size_t i = 0; i < extents->size(); ++i) {
      index_t& extent = (*extents)[i];
      if (extent == 0 && integer("allowzero", 0) == 0 && std::cmp_less(i, in.rank()))
        extent = in[static_cast<int>(i)];
      if (extent == -1 && !computed)
        computed = &extent;
      else if (extent < 1 || others > most_elements / extent)
        return std::nullopt;
      else
        others *= extent;
    }
    if (computed) *computed = in.numel() / others;
    return reshaped(Sizes(*extents));
  }
  Result squeeze() {
    const auto axes = integers(1, "axes");
    if (!input(0)) return std::nullopt;
    const Sizes& in = input(0)->sizes;
    Sizes out;
    for (int i = 0; i < in.rank(); ++i) {
      const auto is = [&](index_t axis) {
        return (axis < 0 ? axis + in.rank() : axis) == i;
      };
      const bool drops =
          axes ? std::any_of(axes->begin(), axes->end(), is) : in[i] == 1 && inputs_.size() < 2;
      if (!drops) out.append(in[i]);
    }
    return reshaped(out);
  }
  Result unsqueeze() {
    const auto axes = integers(1, "axes");
    if (!input(0) || !axes) return std::nullopt;
    const Sizes& in = input(0)->sizes;
    const index_t rank = in.rank() + std::ssize(*axes);
    if (rank > Sizes::max_rank) return std::nullopt;
    Sizes out;
    int next = 0;
    for (index_t i = 0; i < rank; ++i) {
      const auto is = [&](index_t axis) {
        return (axis < 0 ? axis + rank : axis) == i;
      };
      if (std::any_of(axes->begin(), axes->end(), is))
        out.append(1);
      else if (next < in.rank())
        out.append(in[next++]);
    }
    return reshaped(out);
  }
  // Returns a view: the strides are in another order.
  Result transpose() {
    const Known* from = input(0);
    if (!from || from->is_small || !from->parts.empty() || !from->tensor.problem.empty())
      return std::nullopt;
    const int rank = from->sizes.rank();
    std::vector<index_t> order;
    for (int i = rank - 1; i >= 0; --i)
      order.push_back(i);
    if (const Attribute* perm = node_.find("perm")) order = perm->integers;
    std::vector<index_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (std::ssize(sorted) != rank) return std::nullopt;
    for (int i = 0; i < rank; ++i)
      if (sorted[static_cast<std::size_t>(i)] != i) return std::nullopt;
    Known known{.tensor = from->tensor, .is_initializer = from->is_initializer};
    const Sizes strides = from->tensor.strides.rank() > 0 ? from->tensor.strides
                                                          : io::detail::packed_strides(from->sizes);
    known.tensor.strides = {};
    for (const index_t i : order) {
      known.sizes.append(from->sizes[static_cast<int>(i)]);
      known.tensor.strides.append(strides[static_cast<int>(i)]);
    }
    known.tensor.sizes = known.sizes;
    return known;
  }

  const NodeInfo& node_;
  std::vector<const Known*> inputs_;
  std::deque<std::vector<std::byte>>& storage_;
};

}  // namespace gpunet::onnx::detail
