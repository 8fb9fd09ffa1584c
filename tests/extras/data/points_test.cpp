#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <numbers>
#include <numeric>

#include <gpunet/data/dataset.hpp>
#include <gpunet/extras/data/points.hpp>

#include "support/errors.hpp"

using namespace gpunet;

namespace {

index_t ones(const data::Points& points) {
  return std::count(points.labels.begin(), points.labels.end(), label_t{1});
}

// f(x, y, class) for every point.
template <class F>
void each(const data::Points& points, F f) {
  REQUIRE(points.samples.size() == 2 * points.labels.size());
  for (std::size_t i = 0; i < points.labels.size(); ++i)
    f(double{points.samples[2 * i]}, double{points.samples[2 * i + 1]}, points.labels[i]);
}

constexpr double ulp = 0x1p-23;

}  // namespace

TEST_CASE("the circle is a disc in a ring") {
  const data::Points points = data::make_circle(1001);
  CHECK(points.size() == 1001);
  CHECK(ones(points) == 501);
  double within[4] = {9, 0, 9, 0};  // radii: of class 0 from, to; of class 1 from, to
  each(points, [&](double x, double y, label_t label) {
    const double r = std::hypot(x, y);
    within[2 * label] = std::min(within[2 * label], r);
    within[2 * label + 1] = std::max(within[2 * label + 1], r);
  });
  CHECK(within[0] >= 3.5 * (1 - ulp));
  CHECK(within[1] <= 5 * (1 + ulp));
  CHECK(within[3] <= 2.5 * (1 + ulp));
  // A share of (1 - 0.02)^500 = 4e-5 of all seeds would have none in the first or last fiftieth of
  // a range.
  CHECK(within[0] < 3.53);
  CHECK(within[1] > 4.97);
  CHECK(within[2] < 0.05);
  CHECK(within[3] > 2.45);
}

TEST_CASE("exclusive or keeps away from the axes") {
  const data::Points points = data::make_xor(4000, {.seed = 3});
  double nearest = 9, farthest = 0;
  index_t quarters[4] = {};
  each(points, [&](double x, double y, label_t label) {
    CHECK(label == static_cast<label_t>(x * y >= 0));
    nearest = std::min({nearest, std::abs(x), std::abs(y)});
    farthest = std::max({farthest, std::abs(x), std::abs(y)});
    ++quarters[2 * (x > 0) + (y > 0)];
  });
  CHECK(nearest >= 0.3f);
  CHECK(farthest <= 5.3f);
  CHECK(nearest < 0.35);
  CHECK(farthest > 5.25);
  for (const index_t count : quarters)
    CHECK(std::abs(static_cast<double>(count) - 1000) <
          5 * std::sqrt(750.0));  // 5 standard deviations of n p (1 - p)
}

TEST_CASE("gaussians have the mean and the variance that noise says") {
  for (const double noise : {0.0, 0.25, 0.5}) {
    CAPTURE(noise);
    constexpr index_t n = 200'000;
    const double variance = 0.5 + noise / 0.5 * 3.5;
    const data::Points points = data::make_gaussians(n, {.noise = noise, .seed = 7});
    CHECK(ones(points) == n / 2);
    double sum[2][2] = {}, squares[2][2] = {}, product[2] = {};
    each(points, [&](double x, double y, label_t label) {
      const double centre = label == 1 ? 2 : -2, dx = x - centre, dy = y - centre;
      sum[label][0] += dx, sum[label][1] += dy;
      squares[label][0] += dx * dx, squares[label][1] += dy * dy;
      product[label] += dx * dy;
    });
    // Five standard deviations: of a mean sqrt(v / m), of a variance v sqrt(2 / m), of a covariance
    // v / sqrt(m).
    constexpr double m = n / 2;
    for (int label = 0; label < 2; ++label) {
      for (int axis = 0; axis < 2; ++axis) {
        CHECK(std::abs(sum[label][axis] / m) < 5 * std::sqrt(variance / m));
        CHECK(std::abs(squares[label][axis] / m - variance) < 5 * variance * std::sqrt(2 / m));
      }
      CHECK(std::abs(product[label] / m) < 5 * variance / std::sqrt(m));
    }
  }
}

TEST_CASE("the spiral without noise is where the formula says") {
  const data::Points points = data::make_spiral(8);
  // Places 0, 1/4, 1/2, 3/4 of 1.75 turns and of the radius 5; the other arm is the same, mirrored
  // at the centre.
  for (int i = 0; i < 4; ++i) {
    const double angle = 3.5 * std::numbers::pi * i / 4, r = 1.25 * i;
    const auto at = [&](int k, int axis) {
      return double{points.samples[static_cast<std::size_t>(2 * k + axis)]};
    };
    CHECK(at(i, 0) == doctest::Approx(r * std::sin(angle)).epsilon(1e-6));
    CHECK(at(i, 1) == doctest::Approx(r * std::cos(angle)).epsilon(1e-6));
    CHECK(std::abs(at(i, 0) + at(i + 4, 0)) < 1e-6);
    CHECK(std::abs(at(i, 1) + at(i + 4, 1)) < 1e-6);
  }
  CHECK(points.labels == std::vector<label_t>{1, 1, 1, 1, 0, 0, 0, 0});
  CHECK(ones(data::make_spiral(7)) == 4);
}

TEST_CASE("noise moves the points of the spiral by no more than it is") {
  const data::Points still = data::make_spiral(400), noisy = data::make_spiral(400, {.noise = 0.3});
  double most = 0;
  for (std::size_t i = 0; i < still.samples.size(); ++i)
    most = std::max(most, std::abs(double{still.samples[i]} - noisy.samples[i]));
  CHECK(most <= 0.3 + 5 * ulp);
  CHECK(most > 0.29);
  CHECK(still.labels == noisy.labels);
}

TEST_CASE("noise gives points near the border the other class's label, and moves none") {
  for (const char* name : {"circle", "xor"}) {
    const data::Points still = data::make_points(name, 1000),
                       noisy = data::make_points(name, 1000, {.noise = 0.2});
    CHECK(still.samples == noisy.samples);
    index_t changed = 0;
    for (std::size_t i = 0; i < still.labels.size(); ++i) {
      if (still.labels[i] == noisy.labels[i]) continue;
      ++changed;
      const double x = still.samples[2 * i], y = still.samples[2 * i + 1];
      if (name[0] == 'x')
        CHECK(std::min(std::abs(x), std::abs(y)) <= 1);
      else
        CHECK(std::abs(std::hypot(x, y) - 2.5) <= std::sqrt(2.0));
    }
    CHECK(changed > 50);
    CHECK(changed < 400);
  }
}

TEST_CASE("points depend on the seed, and on nothing else") {
  for (const char* name : {"circle", "xor", "gaussians", "spiral"}) {
    manual_seed(1);
    const auto first = data::make_points(name, 100, {.noise = 0.1, .seed = 5});
    manual_seed(2);
    CHECK(data::make_points(name, 100, {.noise = 0.1, .seed = 5}).samples == first.samples);
    CHECK(data::make_points(name, 100, {.noise = 0.1, .seed = 6}).samples != first.samples);
  }
}

TEST_CASE("points that cannot be made") {
  CHECK(error_of([] { data::make_points("moons", 10); }) ==
        "gpunet::data::make_points: 'moons' is not a known problem (want circle, xor, gaussians or "
        "spiral)");
  CHECK(error_of([] { data::make_circle(1); }) ==
        "gpunet::data::make_circle: 1 points (want 2 or more, one of each class)");
  CHECK(error_of([] { data::make_spiral(index_t{1} << 48); }) ==
        "gpunet::data::make_spiral: 281474976710656 points need more than the available memory, "
        "give fewer");
  for (const double noise : {-0.1, 0.51, std::numeric_limits<double>::quiet_NaN()})
    for (const auto make :
         {data::make_circle, data::make_xor, data::make_gaussians, data::make_spiral})
      CHECK(contains(error_of([&] { make(10, {.noise = noise}); }), "(want 0 to 0.5)"));
}

TEST_CASE("points are a dataset, for a loader") {
  static_assert(data::Dataset<data::Points>);
  const data::Points points = data::make_spiral(5);
  const data::DatasetView view = points;
  CHECK(view.size() == 5);
  CHECK(view.sample_sizes() == Sizes{2});
  for (index_t i = 0; i < 5; ++i) {
    std::vector<float> sample(2);
    CHECK(view.read(i, sample.data()) == points.labels.data()[i]);
    CHECK(sample ==
          std::vector<float>(points.samples.data() + 2 * i, points.samples.data() + 2 * i + 2));
  }
}
