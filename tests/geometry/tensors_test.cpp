// Random geometries of functions of tensors: of views in every layout in float, on every vector
// path, against contiguous tensors in double.

#include <gpunet/tensors.hpp>

#include "geometry/check.hpp"

using namespace gpunet;
using geometry::Configuration, geometry::Draw, geometry::Numbers;

namespace {

// A view of a tensor on a device, and its elements in double.
template <class D>
struct Operand {
  Tensor<float, D> owner;
  StridedView<const float, D> view;
  Tensor<double, Host> plain;
};

// Returns a view of the given sizes: with two dimensions exchanged, every second element of one,
// one repeated, one in the opposite order. Elements are floats, or whole numbers from -2 to 2, many
// of them equal.
template <class D>
Operand<D> draw_operand(D& device, const Sizes& sizes, bool whole_numbers, Generator& random) {
  const auto dim = [&] {
    return static_cast<int>(random.below(sizes.rank()));
  };
  const int p = dim(), q = dim(), halved = dim(), repeated = dim(), flipped = dim();
  const bool halves = random.below(3) == 0, repeats = random.below(6) == 0,
             flips = random.below(4) == 0;
  const std::vector<index_t> extents(sizes.begin(), sizes.end());
  std::vector<index_t> owned_extents = extents;
  const auto owned_extent = [&](int d) -> index_t& {
    return owned_extents[static_cast<std::size_t>(d)];
  };
  if (halves) owned_extent(halved) *= 2;
  if (repeats) owned_extent(repeated) = 1;
  std::swap(owned_extent(p), owned_extent(q));
  const Sizes owned(owned_extents);

  Numbers elements;
  for (index_t i = 0; i < owned.numel(); ++i)
    elements.push_back(whole_numbers ? static_cast<double>(random.below(5) - 2)
                                     : static_cast<double>(random.uniform(-1.f, 1.f)));
  Tensor<float, D> owner(device, owned, geometry::as<float>(elements));
  StridedView<const float, D> view = transpose(std::as_const(owner), p, q);
  if (view.sizes()[halved] > sizes[halved]) view = slice(view, halved, {.step = 2});
  if (flips) view = flip(view, {flipped});
  view =
      detail::relaid(view, [&](const detail::Layout& of) { return detail::expanded(of, extents); });
  return {std::move(owner), view,
          Tensor<double, Host>(geometry::device_of<Host>(1), sizes,
                               geometry::doubles(view.contiguous().to_vector()))};
}

Sizes sizes_of(const Configuration& c) {
  constexpr std::array names{"size0", "size1", "size2", "size3"};
  Sizes sizes;
  for (index_t i = 0; i < c["rank"]; ++i)
    sizes.append(c[names[static_cast<std::size_t>(i)]]);
  return sizes;
}

// Returns the sizes of the second operand of a function: one that broadcasts, or can be multiplied.
Sizes second_sizes(const Configuration& c) {
  const Sizes sizes = sizes_of(c);
  if (c["function"] != 0) {
    Sizes second;
    for (int d = static_cast<int>(std::min<index_t>(c["left_out"], sizes.rank() - 1));
         d < sizes.rank(); ++d)
      second.append(c["of_size1"] >> d & 1 ? 1 : sizes[d]);
    return second;
  }
  const index_t inner = sizes[sizes.rank() - 1];
  Sizes second;
  if (c["left_out"] == 0)
    for (int d = 0; d + 2 < sizes.rank(); ++d)
      second.append(c["of_size1"] >> d & 1 ? 1 : sizes[d]);
  second.append(inner);
  if (c["left_out"] < 3) second.append(c["out"]);
  return second;
}

// Whole numbers from 0 to below - 1, the same on every call.
template <class D>
Tensor<index_t, D> indices(D& device, const Sizes& sizes, index_t below) {
  std::vector<index_t> numbers;
  for (index_t i = 0; i < sizes.numel(); ++i)
    numbers.push_back((i * 7 + i / 5) % below);
  return Tensor<index_t, D>(device, sizes, numbers);
}

// Returns a function's result as numbers, with its shape.
struct Result {
  Sizes sizes;
  Numbers numbers;
  bool is_exact = false;
};
template <class T, class D>
Result result(const Tensor<T, D>& y, bool is_exact = false) {
  return {y.sizes(), geometry::doubles(y.to_vector()), is_exact};
}

constexpr index_t functions = 26;

// Computes a function of tensors a and b of one device and type.
template <class A, class B>
Result compute(const Configuration& c, const A& a, const B& b) {
  const bool keepdim = c["keepdim"] == 1;
  const int dim = static_cast<int>(c["dim"]), rank = a.sizes().rank();
  std::vector<int> dims;
  for (int d = 0; d < rank; ++d)
    if (c["dims"] >> d & 1) dims.push_back(d);
  auto& device = a.device();
  const index_t extent = a.sizes()[dim];
  switch (c["function"]) {
    case 0:
      return result(matmul(a, b));
    case 1:
      return result(Tensor(a + b));
    case 2:
      return result(Tensor(a / (square(b) + 0.5f)));
    case 3:
      return result(Tensor(maximum(a, b) - minimum(b, a)));
    case 4:
      return result(Tensor(where(a > b, a, b)), true);
    case 5:
      return result(Tensor(atan2(a, b + 3)));
    case 6:
      return result(sum(a, dims, keepdim));
    case 7:
      return result(mean(square(a - b), dims, keepdim));
    case 8:
      return result(var(a, dims, keepdim, 0));
    case 9:
      return result(norm(a, static_cast<double>(c["p"]), dims, keepdim));
    case 10:
      return result(amax(a, dims, keepdim), true);
    case 11:
      // A few others than 1.
      return result(prod(where(abs(a) > 0.98f, clamp(a, -1, 1), 1), dims, keepdim));
    case 12:
      return result(logsumexp(4 * a, dims, keepdim));
    case 13:
      return result(argmax(a, dim, keepdim), true);
    case 14:
      return result(softmax(4 * a, dim));
    case 15:
      return result(cumsum(a, dim));
    case 16: {
      const auto [values, places] = sort(a, dim, keepdim);
      return result(cat({cast<double>(values), cast<double>(places)}, dim), true);
    }
    case 17: {
      const auto [values, places] = topk(a, (extent + 1) / 2, dim, keepdim);
      return result(cat({cast<double>(values), cast<double>(places)}, dim), true);
    }
    case 18: {
      const auto [values, places] = median(a, dim, keepdim);
      return result(values, true);
    }
    case 19:
      return result(cat({a, a, roll(a, c["p"], dim)}, dim), true);
    case 20:
      return result(index_select(a, dim, indices(device, {c["out"]}, extent)), true);
    case 21:
      return result(gather(a, dim, indices(device, a.sizes(), extent)), true);
    case 22:
      return result(scatter_add(a, dim, indices(device, a.sizes(), extent), a));
    case 23:
      return result(rank < 2 ? Tensor(a + 0) : tril(a, c["p"] - 2), true);
    case 24:
      return result(masked_select(a, a > 0), true);
    default:
      return result(extent < 2 ? Tensor(a + 0) : diff(a, 1, dim));
  }
}

Configuration draw_function(std::uint64_t seed, index_t i) {
  Generator random = geometry::generator_of(seed, i);
  while (true) {
    Configuration c{"tensors", {}};
    Draw d(random, c);
    d.pick("function", 0, functions - 1);
    d.pick("rank", 1, 4);
    for (const char* name : {"size0", "size1", "size2", "size3"})
      d.extent(name, 70);
    d.pick("dim", 0, d["rank"] - 1);
    d.pick("dims", 0, (index_t{1} << d["rank"]) - 1);
    d.pick("keepdim", 0, 1);
    d.pick("whole", 0, 1);
    d.pick("of_size1", 0, 15);  // a bit for each dimension along which b is repeated
    d.pick("left_out", 0, 3);   // dimensions in front that b lacks
    d.pick("p", 1, 4);
    d.extent("out", 70);
    const index_t work = sizes_of(c).numel() * (c["function"] == 0 ? c["out"] : 4);
    if (work <= 20000) return c;
  }
}

template <class D>
std::string compare_function(const Configuration& c, std::uint64_t seed) {
  const KeepIsa keep;
  Generator random(seed);
  for (const Isa path : geometry::paths<D>()) {
    set_isa(path);
    const index_t threads = 1 + random.below(3);
    D& device = geometry::device_of<D>(threads);
    const Operand<D> a = draw_operand(device, sizes_of(c), c["whole"], random);
    const Operand<D> b = draw_operand(device, second_sizes(c), c["whole"], random);
    const Result want = compute(c, a.plain, b.plain), got = compute(c, a.view, b.view);
    const std::string where = concat(", ", geometry::where(path, threads));
    if (!(got.sizes == want.sizes))
      return concat("shape ", to_string(got.sizes), ", want ", to_string(want.sizes), where);
    const double bound =
        want.is_exact ? 0 : geometry::sum_rounding * std::max(1.0, geometry::largest(want.numbers));
    for (std::size_t i = 0; i < want.numbers.size(); ++i)
      if (!(std::abs(got.numbers[i] - want.numbers[i]) <= bound))
        return concat("element ", i, " is ", got.numbers[i], ", want ", want.numbers[i], ", bound ",
                      bound, where);
  }
  return {};
}

}  // namespace

TEST_CASE_TEMPLATE("random geometries of functions of tensors", D, GPUNET_TEST_DEVICES) {
  geometry::check_configurations<D>("tensors", draw_function, compare_function<D>);
}
