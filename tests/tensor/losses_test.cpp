// Losses of tensors against PyTorch: at special points (reference/special_points.py), of ten shapes
// (reference/losses.py), and against the classes of losses.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/loss_reference.hpp"
#include "support/special_points.hpp"

using namespace gpunet;
using R = nn::Reduction;

namespace {

// The step between compared shapes: a launch takes the simulator 30 ms.
template <class D>
inline constexpr std::size_t step_of_shapes = std::is_same_v<D, Host> ? 1 : 5;

bool is_no_probability(double x) {
  return x < 0 || x > 1e38;
}
bool is_far(double x) {  // squares overflow or underflow in float
  return std::fabs(x) > 1e18 || (x != 0 && std::fabs(x) < 1e-8);
}
bool is_huge(double x) {  // sums overflow in float, unless they are multiply-adds
  return std::isfinite(x) && std::fabs(x) > 1e38;
}
bool is_above(double x) {
  return std::fabs(x) > 1e38;
}

// Compares f of the pairs of rows of an array with PyTorch's losses.
template <class D, class T, class F>
void check_points(const std::string& name, const std::string& array, index_t width, F f,
                  bool (*skips)(double) = nullptr, double relative = 0, double absolute = 0) {
  D& device = test_device<D>();
  std::vector<std::vector<T>> inputs{special_reference<T>(array + ".0"),
                                     special_reference<T>(array + ".1")};
  const auto rows = static_cast<index_t>(inputs[0].size()) / width;
  const Sizes sizes = width == 1 ? Sizes{rows} : Sizes{rows, width};
  const Tensor<T, D> x(device, sizes, inputs[0]), t(device, sizes, inputs[1]);
  SpecialTolerance<T> tolerance{.skips = skips};
  tolerance.relative = std::max(tolerance.relative, relative);
  tolerance.smallest = std::max(tolerance.smallest, absolute);
  check_special(name + ".y", f(x, t).to_vector(), inputs, static_cast<std::size_t>(rows),
                tolerance);
}

template <class D, class T>
void check_all_points() {
#define GPUNET_CASE(NAME, ARRAY, WIDTH, CALL, ...) \
  check_points<D, T>(                              \
      NAME, ARRAY, WIDTH, [](const auto& x, const auto& t) { return CALL; }, __VA_ARGS__);
  const auto all = nullptr;
  GPUNET_CASE("mse", "few", 1, mse_loss(x, t, {.reduction = R::none}), all)
  GPUNET_CASE("l1", "few", 1, l1_loss(x, t, {.reduction = R::none}), all)
  GPUNET_CASE("smooth_l1", "few", 1, smooth_l1_loss(x, t, {.reduction = R::none}), all)
  GPUNET_CASE("smooth_l1_0", "few", 1, smooth_l1_loss(x, t, {.reduction = R::none, .beta = 0}), all)
  GPUNET_CASE("huber", "few", 1, huber_loss(x, t, {.reduction = R::none, .delta = 0.5}), all)
  GPUNET_CASE("bce_logits", "few", 1,
              binary_cross_entropy_with_logits(x, t, {.reduction = R::none}), is_huge, 0, 1e-15)
  GPUNET_CASE("kl_div", "few", 1, kl_div(x, t, {.reduction = R::none}), is_no_probability)
  GPUNET_CASE("kl_div_log", "few", 1, kl_div(x, t, {.reduction = R::none, .log_target = true}), all)
  GPUNET_CASE("poisson", "few", 1, poisson_nll_loss(x, t, {.reduction = R::none}), is_far)
  GPUNET_CASE("poisson_rate", "few", 1,
              poisson_nll_loss(x, t, {.log_input = false, .reduction = R::none}), is_far)
  GPUNET_CASE("bce", "probabilities", 1, binary_cross_entropy(x, t, {.reduction = R::none}), all)
  GPUNET_CASE("bce_sigmoid", "logits", 1,
              binary_cross_entropy(sigmoid(x), t, {.reduction = R::none}), all)
  GPUNET_CASE("hinge", "hinge", 1, hinge_embedding_loss(x, t, {.reduction = R::none}), all)
  GPUNET_CASE("pairwise_distance", "vectors", 3, pairwise_distance(x, t), is_above)
  GPUNET_CASE("pairwise_distance_0", "vectors", 3, pairwise_distance(x, t, 2, 0), is_far)
  GPUNET_CASE("cosine_similarity", "vectors", 3, cosine_similarity(x, t), is_far, 1e-6, 1e-12)
  GPUNET_CASE("cosine_embedding_1", "vectors", 3,
              cosine_embedding_loss(x, t, ones<T>(x.device(), {x.size(0)}), {.reduction = R::none}),
              is_far, 1e-7)
  GPUNET_CASE(
      "cosine_embedding_minus_1", "vectors", 3,
      cosine_embedding_loss(x, t, full<T>(x.device(), {x.size(0)}, -1), {.reduction = R::none}),
      is_far, 1e-7, 1e-24)
  GPUNET_CASE("soft", "soft", 3, cross_entropy(x, t, {.reduction = R::none}), all, 0, 1e-15)
  GPUNET_CASE("soft_smooth", "soft", 3,
              cross_entropy(x, t, {.reduction = R::none, .label_smoothing = 0.25}), all, 0, 1e-15)
#undef GPUNET_CASE
}

template <class D, class T>
void check_labels() {
  D& device = test_device<D>();
  const std::vector<T> values = special_reference<T>("rows");
  const auto rows = static_cast<index_t>(values.size()) / 3;
  const Tensor<T, D> x(device, {rows, 3}, values);
  SpecialTolerance<T> tolerance;
  tolerance.smallest = 1e-15;
  const auto check = [&](const std::string& name, const Tensor<T, D>& y) {
    check_special(name + ".y", y.to_vector(), {values}, static_cast<std::size_t>(rows), tolerance);
  };
  for (int label = 0; label < 3; ++label) {
    const std::string number = "_" + std::to_string(label);
    const Tensor<index_t, D> labels = full<index_t>(device, {rows}, label);
    check("ce" + number, cross_entropy(x, labels, {.reduction = R::none}));
    check("ce_smooth" + number,
          cross_entropy(x, labels, {.reduction = R::none, .label_smoothing = 0.25}));
    check("nll" + number, nll_loss(x, labels, {.reduction = R::none}));
  }
  // Ignored labels, and labels whose weights add up to 0.
  const std::vector<std::pair<std::string, std::vector<index_t>>> cases{
      {"ignored", {-100, -100, -100, -100, -100}},
      {"one_left", {-100, -100, 2, -100, -100}},
      {"of_weight_0", {1, 1, 1, 1, 1}},
      {"ignored_or_0", {1, -100, 1, -100, -100}}};
  const Tensor<T, D> scores(device, {5, 3}, special_reference<T>("scores"));
  const std::vector<double> weight{1, 0, 0.5};
  for (const auto& [name, given] : cases)
    for (const R r : {R::mean, R::sum}) {
      if (!std::is_same_v<D, Host> && r == R::sum) continue;
      const std::string of = "." + name + (r == R::mean ? ".mean.y" : ".sum.y");
      const Tensor<index_t, D> labels(device, {5}, given);
      const auto check_case = [&](const std::string& kind, const Tensor<T, D>& loss) {
        check_special(kind + of, loss.to_vector(), {}, 1);
      };
      check_case("ce", cross_entropy(scores, labels, {.reduction = r, .ignore_index = -100}));
      check_case("ce_smooth",
                 cross_entropy(scores, labels,
                               {.reduction = r, .ignore_index = -100, .label_smoothing = 0.25}));
      check_case(
          "ce_weight",
          cross_entropy(scores, labels, {.reduction = r, .weight = weight, .ignore_index = -100}));
      check_case(
          "ce_all",
          cross_entropy(
              scores, labels,
              {.reduction = r, .weight = weight, .ignore_index = -100, .label_smoothing = 0.25}));
      check_case("nll", nll_loss(scores, labels, {.reduction = r, .ignore_index = -100}));
      check_case("nll_weight", nll_loss(scores, labels,
                                        {.reduction = r, .weight = weight, .ignore_index = -100}));
    }
}

// Compares f(x, t, reduction) with PyTorch's sums and means of ten shapes, and with those of the
// class that make(reduction) returns.
template <class D, class F, class Make>
void check_shapes(const std::string& kind, float low, float high, float target_low,
                  float target_high, F f, Make make, bool pairs = false) {
  D& device = test_device<D>();
  const std::vector<Sizes> shapes{{1, 1},    {2, 7},  {17, 3},      {3, 33}, {16, 16},
                                  {5, 2, 3}, {33, 2}, {4, 1, 3, 2}, {48, 1}, {7, 19}};
  for (std::size_t number = 0; number < shapes.size(); number += step_of_shapes<D>) {
    const Sizes& shape = shapes[number];
    Generator generator(static_cast<std::uint64_t>(number));
    const std::vector<double> values = doubles(shape.numel(), generator, low, high);
    std::vector<double> targets = doubles(shape.numel(), generator, target_low, target_high);
    if (pairs)
      for (double& target : targets)
        target = target > 0 ? 1 : -1;
    const Tensor<double, D> x(device, shape, values), t(device, shape, targets);
    for (const R r : {R::mean, R::sum}) {
      CAPTURE(kind);
      CAPTURE(number);
      const std::vector<double> loss = f(x, t, r).to_vector();
      const auto of_class =
          run_loss(device, make(r), Slice{shape[0], shape[0], 1}, shape.tail(), values, targets);
      CHECK(nn::relative_error(loss, of_class.loss) <= 1e-13);
      const std::string name = kind + "." + std::to_string(number);
      CHECK(nn::relative_error(loss, loss_reference(name + (r == R::mean ? ".mean" : ".sum"))) <=
            1e-6);
      if (!std::is_same_v<D, Host> && number != 5) continue;
      // Views in another order, expressions, and floats.
      const Tensor<double, D> turned = transpose(x, 0, 1), turned_t = transpose(t, 0, 1);
      CHECK(nn::relative_error(
                f(transpose(turned, 0, 1), 1 * transpose(turned_t, 0, 1), r).to_vector(), loss) <=
            1e-15);
      CHECK(nn::relative_error(f(Tensor(cast<float>(x)), Tensor(cast<float>(t)), r).to_vector(),
                               of_class.loss) <= 2e-6);
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("special points of losses of tensors are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_all_points<D, float>();
  check_labels<D, float>();
  if constexpr (std::is_same_v<D, Host>) {
    check_all_points<D, double>();
    check_labels<D, double>();
  }
}

TEST_CASE_TEMPLATE("ten shapes of losses of tensors are PyTorch's and those of the classes", D,
                   GPUNET_TEST_DEVICES) {
#define GPUNET_CASE(KIND, LOW, HIGH, OF_T, TO_T, FUNCTION, CLASS, ...)                            \
  check_shapes<D>(                                                                                \
      KIND, LOW, HIGH, OF_T, TO_T,                                                                \
      [](auto&& x, auto&& t, R r) {                                                               \
        return FUNCTION(std::forward<decltype(x)>(x), std::forward<decltype(t)>(t), __VA_ARGS__); \
      },                                                                                          \
      [](R r) { return nn::CLASS(__VA_ARGS__); }, std::string_view(KIND) == "hinge");
  GPUNET_CASE("mse", -4, 4, -4, 4, mse_loss, MSELoss, {.reduction = r})
  GPUNET_CASE("l1", -4, 4, -4, 4, l1_loss, L1Loss, {.reduction = r})
  GPUNET_CASE("smooth_l1", -4, 4, -4, 4, smooth_l1_loss, SmoothL1Loss,
              {.reduction = r, .beta = 0.7})
  GPUNET_CASE("smooth_l1_0", -4, 4, -4, 4, smooth_l1_loss, SmoothL1Loss,
              {.reduction = r, .beta = 0})
  GPUNET_CASE("huber", -4, 4, -4, 4, huber_loss, HuberLoss, {.reduction = r, .delta = 1.3})
  GPUNET_CASE("bce", 0, 1, 0, 1, binary_cross_entropy, BCELoss, {.reduction = r})
  GPUNET_CASE("bce_with_logits", -4, 4, 0, 1, binary_cross_entropy_with_logits, BCEWithLogitsLoss,
              {.reduction = r})
  GPUNET_CASE("bce_pos_weight", -4, 4, 0, 1, binary_cross_entropy_with_logits, BCEWithLogitsLoss,
              {.reduction = r, .pos_weight = 2.5})
  GPUNET_CASE("kl_div", -3, 0, 0, 1, kl_div, KLDivLoss, {.reduction = r})
  GPUNET_CASE("kl_div_log", -3, 0, -3, 0, kl_div, KLDivLoss, {.reduction = r, .log_target = true})
  GPUNET_CASE("hinge", -4, 4, -4, 4, hinge_embedding_loss, HingeEmbeddingLoss,
              {.reduction = r, .margin = 1.5})
  GPUNET_CASE("poisson", -4, 4, 0, 9, poisson_nll_loss, PoissonNLLLoss, {.reduction = r})
  GPUNET_CASE("poisson_full", -4, 4, 0, 9, poisson_nll_loss, PoissonNLLLoss,
              {.full = true, .reduction = r})
  GPUNET_CASE("poisson_rate", 0, 4, 0, 9, poisson_nll_loss, PoissonNLLLoss,
              {.log_input = false, .full = true, .eps = 1e-3, .reduction = r})
#undef GPUNET_CASE
  Generator generator(1);
  const Tensor<double, D> x(test_device<D>(), {2, 7}, doubles(14, generator, -3, 0)),
      t(test_device<D>(), {2, 7}, doubles(14, generator, 0, 1));
  CHECK(nn::relative_error(kl_div(x, t, {.reduction = R::batchmean}).to_vector(),
                           loss_reference("kl_div.1.batchmean")) <= 1e-6);
}

TEST_CASE_TEMPLATE("ten shapes of cross-entropies of tensors are PyTorch's", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const std::vector<Sizes> shapes{{2, 3},    {2, 2},       {17, 5},    {4, 33}, {16, 10},
                                  {3, 4, 5}, {2, 3, 4, 2}, {5, 2, 17}, {33, 7}, {1, 6, 1, 3}};
  for (std::size_t number = 0; number < shapes.size(); number += step_of_shapes<D>) {
    const Sizes& shape = shapes[number];
    const index_t classes = shape[1];
    Generator generator(static_cast<std::uint64_t>(number));
    const Tensor<double, D> x(device, shape, doubles(shape.numel(), generator, -4, 4));
    const Tensor<double, D> soft(device, shape, doubles(shape.numel(), generator, 0, 1));
    Sizes places = shape.tail().tail().with_front(shape[0]);
    std::vector<std::int32_t> values;
    for (index_t i = 0; i < places.numel(); ++i)
      values.push_back(static_cast<std::int32_t>((i * i + 1) % classes));
    const Tensor<std::int32_t, D> labels(device, places, values);
    std::vector<double> weight;
    for (index_t k = 0; k < classes; ++k)
      weight.push_back(0.25 + static_cast<double>(k % 5));
    for (const R r : {R::mean, R::sum}) {
      const auto check = [&](const std::string& kind, const Tensor<double, D>& loss) {
        CAPTURE(kind);
        CAPTURE(number);
        CHECK(nn::relative_error(loss.to_vector(),
                                 loss_reference(kind + "." + std::to_string(number) +
                                                (r == R::mean ? ".mean" : ".sum"))) <= 1e-6);
      };
      check("cross_entropy", cross_entropy(x, labels, {.reduction = r}));
      check("weight", cross_entropy(x, labels, {.reduction = r, .weight = weight}));
      check("ignore", cross_entropy(x, labels, {.reduction = r, .ignore_index = 1}));
      check("smoothing", cross_entropy(x, labels, {.reduction = r, .label_smoothing = 0.2}));
      check("all",
            cross_entropy(
                x, labels,
                {.reduction = r, .weight = weight, .ignore_index = 0, .label_smoothing = 0.1}));
      check("nll", nll_loss(x, labels, {.reduction = r, .weight = weight}));
      check("soft", cross_entropy(x, soft, {.reduction = r}));
      check("soft_all",
            cross_entropy(x, soft, {.reduction = r, .weight = weight, .label_smoothing = 0.3}));
    }
  }
}

TEST_CASE_TEMPLATE("losses of tensors broadcast, and take weights of classes and no batch", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> x(device, {2, 3}, {1, 2, 3, 4, 5, 6}), row(device, {3}, {1, 0, -1}),
      one(device, {}, {2});
  CHECK(mse_loss(x, row).item() == doctest::Approx((0 + 4 + 16 + 9 + 25 + 49) / 6.0));
  CHECK(l1_loss(x, one, {.reduction = R::none}).to_vector() ==
        std::vector<float>{1, 0, 1, 2, 3, 4});
  CHECK(huber_loss(row, x, {.reduction = R::sum, .delta = 2}).item() ==
        doctest::Approx(0 + 2 + 6 + 4 + 8 + 12));
  CHECK(kl_div(x, row * 0 + 1, {.reduction = R::batchmean}).item() == doctest::Approx(-10.5));
  CHECK(nn::mse_loss(x, row).item() == mse_loss(x, row).item());
  // A weight for each class, [batch, classes, places].
  const Tensor<float, D> t(device, {2, 3}, {0, 1, 1, 1, 0, 1});
  const Tensor weighted =
      binary_cross_entropy_with_logits(x, t, {.reduction = R::none, .pos_weight = {1, 2, 0.5}});
  for (int k = 0; k < 3; ++k) {
    const std::vector<double> weights{1, 2, 0.5};
    const Tensor alone = binary_cross_entropy_with_logits(
        select(x, 1, k), select(t, 1, k),
        {.reduction = R::none, .pos_weight = weights[static_cast<std::size_t>(k)]});
    CHECK(Tensor(select(weighted, 1, k)).to_vector() == alone.to_vector());
  }
  const Tensor<float, D> images = reshape(x, {1, 2, 3});
  CHECK(
      binary_cross_entropy_with_logits(images, reshape(t, {1, 2, 3}), {.pos_weight = {3, 1}})
          .item() ==
      doctest::Approx(
          (3 * binary_cross_entropy_with_logits(select(x, 0, 0), select(t, 0, 0), {.pos_weight = 3})
                   .item() +
           3 * binary_cross_entropy_with_logits(select(x, 0, 1), select(t, 0, 1)).item()) /
          6));
  // Scores of one sample without a batch.
  const Tensor<index_t, D> label(device, {}, {2}), of_row(device, {1}, {2});
  CHECK(cross_entropy(row, label).item() == cross_entropy(reshape(row, {1, 3}), of_row).item());
  CHECK(nll_loss(row, label).item() == 1);
}

TEST_CASE_TEMPLATE("distances and losses of rows of tensors", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<double, D> a(device, {2, 2}, {3, 4, 1, 0}), b(device, {2, 2}, {0, 0, 0, 2});
  CHECK(pairwise_distance(a, b, 2, 0).to_vector() == std::vector<double>{5, std::sqrt(5.0)});
  CHECK(pairwise_distance(a, b, 1, 0, true).sizes() == Sizes{2, 1});
  CHECK(pairwise_distance(a, b, 1, 0).to_vector() == std::vector<double>{7, 3});
  CHECK(cosine_similarity(a, unsqueeze(select(b, 0, 1), 0)).to_vector()[0] == doctest::Approx(0.8));
  CHECK(cosine_similarity(a, b, 0).sizes() == Sizes{2});
  // |a - p| = 5, |a - n| = 1, |p - n| = 4.
  const Tensor<double, D> anchor(device, {1, 2}, {3, 4}), positive(device, {1, 2}, {0, 0}),
      negative(device, {1, 2}, {3, 3});
  CHECK(triplet_margin_loss(anchor, positive, negative, {.eps = 0}).item() == doctest::Approx(5));
  CHECK(triplet_margin_loss(positive, anchor, negative, {.eps = 0}).item() ==
        doctest::Approx(5 - std::sqrt(18.0) + 1));
  CHECK(triplet_margin_loss(positive, anchor, negative, {.eps = 0, .swap = true}).item() ==
        doctest::Approx(5));
  CHECK(triplet_margin_loss(anchor, negative, positive, {.reduction = R::none, .eps = 0})
            .to_vector() == std::vector<double>{0});
  const Tensor<double, D> signs(device, {2}, {1, -1});
  CHECK(cosine_embedding_loss(a, a, signs, {.reduction = R::none, .margin = 0.25}).to_vector()[1] ==
        doctest::Approx(0.75));
}

TEST_CASE_TEMPLATE("a mean of many losses has no error of float sums", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const index_t n = std::is_same_v<D, Host> ? 300007 : 5003;
  const Tensor<float, D> x = full<float>(device, {n}, 0.1f), zero = zeros<float>(device, {n});
  const auto relative_error = [](double a, double b) {
    return std::fabs(a / b - 1);
  };
  const double of_one = 0.1f;
  CHECK(relative_error(l1_loss(x, zero).item(), of_one) < 1e-6);
  CHECK(relative_error(l1_loss(x, zero, {.reduction = R::sum}).item(),
                       of_one * static_cast<double>(n)) < 1e-6);
}

TEST_CASE_TEMPLATE("losses of tensors refuse wrong shapes, options and labels", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> x = zeros(device, {2, 3}), t = zeros(device, {2, 4});
  const auto error = [](auto f) {
    return error_of([&] { static_cast<void>(f()); });
  };
  CHECK(error([&] { return mse_loss(x, t); }) ==
        "gpunet::mse_loss: the shapes [2, 3] and [2, 4] do not broadcast (aligned at their last "
        "dimension, 3 meets 4 in dimension -1; want the same extent or 1), reshape one of them");
  CHECK(error([&] { return binary_cross_entropy(x, select(x, 0, 0)); }) ==
        "gpunet::binary_cross_entropy: targets of shape [3] for a tensor of shape [2, 3] (want "
        "the same), reshape one");
  CHECK(error([&] { return huber_loss(x, x, {.delta = 0}); }) ==
        "gpunet::huber_loss: delta 0 (want more than 0)");
  CHECK(error([&] { return smooth_l1_loss(x, x, {.beta = -1}); }) ==
        "gpunet::smooth_l1_loss: beta -1 (want 0 or more)");
  CHECK(error([&] {
          return binary_cross_entropy_with_logits(x, x, {.pos_weight = {1, 2}});
        }) ==
        "gpunet::binary_cross_entropy_with_logits: pos_weight has 2 numbers for outputs of [2, 3] "
        "(want 1, or 3, one for each class)");
  CHECK(error([&] { return binary_cross_entropy_with_logits(x, x, {.pos_weight = -1}); }) ==
        "gpunet::binary_cross_entropy_with_logits: pos_weight -1 (want 0 or more)");
  const Tensor<index_t, D> labels(device, {2}, {0, 3}), three(device, {3}, {0, 0, 0});
  CHECK(error([&] { return cross_entropy(x, labels); }) ==
        "gpunet::cross_entropy: index 3 at place 1 is out of range (want 0 to 2), check the "
        "indices");
  CHECK(error([&] { return nll_loss(x, three); }) ==
        "gpunet::nll_loss: labels of shape [3] for scores of shape [2, 3] (want [2], the index of "
        "a class for each), reshape one");
  CHECK(error([&] {
          return cross_entropy(x, labels, {.weight = {1, 2}});
        }) ==
        "gpunet::cross_entropy: 2 weights for scores of shape [2, 3] (want 3), give one for each "
        "class");
  CHECK(error([&] { return cross_entropy(x, labels, {.label_smoothing = 2}); }) ==
        "gpunet::cross_entropy: label_smoothing 2 (want 0 to 1)");
  CHECK(error([&] { return nll_loss(x, labels, {.label_smoothing = 0.5}); }) ==
        "gpunet::nll_loss: label_smoothing 0.5 (it is for logits), use cross_entropy");
  CHECK(error([&] { return cross_entropy(x, x, {.ignore_index = 0}); }) ==
        "gpunet::cross_entropy: ignore_index with probabilities (they have no labels), leave it "
        "out");
  CHECK(error([&] { return cosine_embedding_loss(x, x, labels.size(0) * ones(device, {3})); }) ==
        "gpunet::cosine_embedding_loss: targets of shape [3] for a tensor of shape [2] (want the "
        "same), reshape one");
}

TEST_CASE("losses of tensors refuse wrong targets on Host") {
  Host& host = test_device<Host>();
  const Tensor<float, Host> x(host, {3}, {0.5f, 1, 1.5f}), t(host, {3}, {1, -1, 0.5f});
  CHECK(error_of([&] { static_cast<void>(hinge_embedding_loss(x, t)); }) ==
        "gpunet::hinge_embedding_loss: target 0.5 at element 2 is neither 1 nor -1, give 1 for "
        "similar pairs and -1 for others");
  CHECK(error_of([&] { static_cast<void>(binary_cross_entropy(0.1f * x, t)); }) ==
        "gpunet::binary_cross_entropy: target -1 at element 1 is not a probability (want 0 to 1), "
        "give the probability of the class");
  CHECK(error_of([&] { static_cast<void>(binary_cross_entropy(x, 0 * x)); }) ==
        "gpunet::binary_cross_entropy: output 1.5 at element 2 is not a probability (want 0 to "
        "1), let the network end in Sigmoid, or use BCEWithLogitsLoss");
}
