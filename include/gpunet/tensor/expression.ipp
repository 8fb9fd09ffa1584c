// Bodies of expression.hpp.
#pragma once

#include <algorithm>

#include <gpunet/tensor/expression.hpp>

namespace gpunet::detail {

// The bytes of an array: the first, and the one after the last. Requires elements.
struct ByteRange {
  const std::byte *first, *end;
  explicit ByteRange(const Operand& x) {
    index_t low = 0, high = 0;
    for (int d = 0; d < x.sizes.rank(); ++d) {
      const index_t reach = x.strides[static_cast<std::size_t>(d)] * (x.sizes[d] - 1);
      (reach < 0 ? low : high) += reach;
    }
    const auto* data = static_cast<const std::byte*>(x.data);
    first = data + low * bytes_of(x.type);
    end = data + (high + 1) * bytes_of(x.type);
  }
};

// The dimensions with more than one element, largest stride first.
struct OrderedDimensions {
  int rank = 0;
  // reach: of dimensions from this one on, in elements.
  index_t strides[Sizes::max_rank], reach[Sizes::max_rank];

  OrderedDimensions(const Sizes& sizes, const Strides& of) {
    index_t extents[Sizes::max_rank];
    for (int d = 0; d < sizes.rank(); ++d) {
      if (sizes[d] <= 1) continue;
      const index_t stride = std::abs(of[static_cast<std::size_t>(d)]);
      int at = rank++;
      for (; at > 0 && strides[at - 1] < stride; --at) {
        strides[at] = strides[at - 1];
        extents[at] = extents[at - 1];
      }
      strides[at] = stride;
      extents[at] = sizes[d];
    }
    index_t sum = 0;
    for (int d = rank - 1; d >= 0; --d)
      reach[d] = sum += strides[d] * (extents[d] - 1);
  }
  // Returns whether `distance` is one between two elements, for strides each of which is longer
  // than the reach of those after it.
  bool has_distance(index_t distance) const {
    distance = std::abs(distance);
    return has_distance_from(0, distance);
  }

 private:
  bool has_distance_from(int d, index_t distance) const {
    if (distance < 0) distance = -distance;
    if (d == rank) return distance == 0;
    if (distance > reach[d]) return false;
    if (strides[d] == 0) return has_distance_from(d + 1, distance);
    const index_t k = distance / strides[d];
    return has_distance_from(d + 1, distance - k * strides[d]) ||
           has_distance_from(d + 1, distance - (k + 1) * strides[d]);
  }
};

GPUNET_INLINE bool overlaps_itself(const Sizes& sizes, const Strides& strides) {
  if (sizes.numel() < 2) return false;
  const OrderedDimensions dimensions(sizes, strides);
  for (int d = 0; d < dimensions.rank; ++d)
    if (dimensions.strides[d] <= (d + 1 < dimensions.rank ? dimensions.reach[d + 1] : 0))
      return true;
  return false;
}

GPUNET_INLINE Overlap overlap(const Operand& in, const Operand& out) {
  if (!in.data || in.sizes.numel() == 0 || out.sizes.numel() == 0) return Overlap::none;
  const ByteRange a(in), b(out);
  if (a.end <= b.first || b.end <= a.first) return Overlap::none;
  bool same_strides = in.sizes == out.sizes && in.type == out.type;
  for (int d = 0; same_strides && d < in.sizes.rank(); ++d)
    same_strides = in.sizes[d] == 1 || in.strides[static_cast<std::size_t>(d)] ==
                                           out.strides[static_cast<std::size_t>(d)];
  if (!same_strides) return Overlap::unknown;
  if (in.data == out.data) return Overlap::same;
  const auto bytes =
      static_cast<const std::byte*>(in.data) - static_cast<const std::byte*>(out.data);
  if (bytes % bytes_of(in.type) != 0) return Overlap::some;
  return OrderedDimensions(in.sizes, in.strides).has_distance(bytes / bytes_of(in.type))
             ? Overlap::some
             : Overlap::none;
}

GPUNET_INLINE bool check_written(const ElementProgram& program, const Operand& out,
                                 std::string_view function) {
  if (overlaps_itself(out.sizes, out.strides)) [[unlikely]]
    fail({"gpunet::", function, ": several elements of the view of shape ", to_string(out.sizes),
          " are one in memory (each would overwrite the other), write to a tensor or to a copy: "
          "Tensor y = x"});
  bool copy = false;
  for (const Operand& operand : program.operands()) {
    const Overlap lies = overlap(operand, out);
    require(lies != Overlap::some, "gpunet::", function,
            ": elements that are written are read at another place of the expression (some would "
            "be new by then), read from a copy: Tensor y = x");
    copy = copy || lies == Overlap::unknown;
  }
  return copy;
}

template <class D>
AnyExpression<D>::AnyExpression(AnyExpression&&) noexcept = default;
template <class D>
AnyExpression<D>::~AnyExpression() = default;

template <class D>
void AnyExpression<D>::refuse_device() {
  throw_error(
      Error("gpunet::Expression: no device (no operand is a tensor that was given one), make the "
            "tensors on a device"));
}

template <class D>
void AnyExpression<D>::refuse_lifetime() {
  throw_error(Error(
      "gpunet::Expression: a tensor in the expression no longer exists (its memory is gone), make "
      "a tensor of the expression before: Tensor y = a + b, and return that from functions"));
}

template <class D>
bool AnyExpression<D>::owns_whole_array() const {
  if (owned_.size() != 1 || !program_.is_operand()) return false;
  const Operand& operand = program_.operands()[0];
  return operand.data == owned_[0].data() && operand.sizes == sizes() &&
         owned_[0].size() == numel() * bytes_of(operand.type) && is_dense(sizes(), operand.strides);
}

template <class D>
Buffer<std::byte, D> AnyExpression<D>::compute() {
  if (owns_whole_array()) return std::move(owned_[0]);
  Buffer<std::byte, D> memory(device(), numel() * bytes_of(program_.type()));
  write_to(memory.data(), dense_strides(sizes()));
  return memory;
}

template <class D>
void AnyExpression<D>::write_to(void* data, const Strides& strides) const {
  ProgramArray out;
  out.data = static_cast<std::byte*>(data);
  out.type = program_.type();
  const RunnableProgram run = runnable(program(), {}, &out, strides);
  if (run.elements > 0) run_elements(device(), run, out);
}

template <class D>
void AnyExpression<D>::write_to(D* device, const Operand& view, std::string_view function) {
  program_.expand(view.sizes, function);
  if (!(sizes() == view.sizes)) [[unlikely]]
    fail({"gpunet::", function, ": elements of shape ", to_string(sizes()), " for a view of shape ",
          to_string(view.sizes), " (want a shape that broadcasts to it), reshape them"});
  if (!device_) device_ = device;
  require_one_device(device_, device, function);
  auto* const data = const_cast<void*>(view.data);
  if (check_written(program_, view, function)) {
    const Sizes own = sizes();
    const ElementType type = program_.type();
    this->own(device, type, own, compute());
  }
  write_to(data, view.strides);
}

template <class D>
bool AnyExpression<D>::can_replace(const D* device, const Operand& array) const {
  if (device != device_ || !(array.sizes == sizes())) return false;
  for (const Operand& operand : program_.operands()) {
    const Overlap lies = overlap(operand, array);
    if (lies == Overlap::some || lies == Overlap::unknown) return false;
  }
  return true;
}

template <class D>
const Operand& AnyExpression<D>::materialize() {
  if (!program_.is_operand() || !program_.operands()[0].data) {
    const Sizes sizes = this->sizes();
    const ElementType type = program_.type();
    own(&device(), type, sizes, compute());
  }
  return program_.operands()[0];
}

template <class D>
void AnyExpression<D>::own(D* device, ElementType type, const Sizes& sizes,
                           Buffer<std::byte, D>&& memory) {
  device_ = device;
  program_ = ElementProgram(Operand{memory.data(), type, sizes, dense_strides(sizes)});
  owned_.clear();
  borrowed_.clear();
  owned_.push_back(std::move(memory));
}

template <class D>
void AnyExpression<D>::take(AnyExpression& b, std::string_view function) {
  if (!device_) device_ = b.device_;
  if (b.device_) require_one_device(device_, b.device_, function);
  for (auto& buffer : b.owned_)
    owned_.push_back(std::move(buffer));
  for (auto& lifetime : b.borrowed_)
    borrowed_.push_back(std::move(lifetime));
}

template <class D>
void AnyExpression<D>::add(const ElementStep& step) {
  if (program_.steps().size() >= most_program_steps) materialize();
  program_.apply(step);
}
template <class D>
void AnyExpression<D>::add(const ElementStep& step, AnyExpression& b, std::string_view function) {
  if (!program_.has_room_for(b.program_)) {
    materialize();
    if (!program_.has_room_for(b.program_)) b.materialize();
  }
  program_.apply(step, b.program_, function);
  take(b, function);
}
template <class D>
void AnyExpression<D>::add(const ElementStep& step, AnyExpression& b, AnyExpression& c,
                           std::string_view function) {
  const auto operands =
      program_.operands().size() + b.program_.operands().size() + c.program_.operands().size();
  const auto steps =
      program_.steps().size() + b.program_.steps().size() + c.program_.steps().size();
  if (operands > most_program_operands || steps >= most_program_steps)
    for (AnyExpression* const part : {this, &b, &c})
      if (part->program_.operands().size() > 1) part->materialize();
  program_.apply(step, b.program_, c.program_, function);
  take(b, function);
  take(c, function);
}

}  // namespace gpunet::detail
