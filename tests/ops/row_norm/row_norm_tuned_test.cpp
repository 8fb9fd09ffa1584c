#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

// The passes of one normalization, tuned and plain.
void compare(Host& host, RandomShapes& random, const RowNormRows& rows, bool centers) {
  CAPTURE(rows.g.rows);
  CAPTURE(rows.g.length);
  CAPTURE(rows.g.channels);
  CAPTURE(rows.slice.outer);
  CAPTURE(rows.slice.inner);
  CAPTURE(centers);
  const index_t features = rows.g.features(), weights = rows.g.weights();
  const auto x = operand(host, random.values(rows.slice, features));
  const auto dy = operand(host, random.values(rows.slice, features));
  const auto w = operand(host, random.values(weights)), b = operand(host, random.values(weights));
  const bool has_weight = random.pick(0, 3) > 0, has_bias = has_weight && random.pick(0, 1) == 1;
  const bool accumulate = random.pick(0, 1) == 1;
  const Outcome y(host, rows.elements()), dx(host, rows.elements());
  Outcome dw(host, weights), db(host, weights);
  std::vector<double> plain(static_cast<std::size_t>(2 * rows.count())), tuned(plain), means(plain);

  const auto forward = [&](std::vector<double>& statistics, float* to) {
    return RowNormForward<float>{rows,
                                 1e-5,
                                 centers,
                                 x.data(),
                                 has_weight ? w.data() : nullptr,
                                 has_bias ? b.data() : nullptr,
                                 {statistics.data(), statistics.data() + rows.count()},
                                 to};
  };
  const auto backward = [&](std::vector<double>& statistics, float* to, float* weight,
                            float* bias) {
    return RowNormBackward<float>{rows,
                                  centers,
                                  x.data(),
                                  dy.data(),
                                  has_weight ? w.data() : nullptr,
                                  {statistics.data(), statistics.data() + rows.count()},
                                  weight,
                                  has_bias ? bias : nullptr,
                                  accumulate ? Accumulate::yes : Accumulate::no,
                                  to,
                                  means.data()};
  };
  const std::vector<float> before(static_cast<std::size_t>(weights), 0.5f);
  dw.start(before);
  db.start(before);
  row_norm_forward<Host>(host, forward(plain, y.plain()));
  const auto args = backward(plain, dx.plain(), dw.plain(), db.plain());
  row_norm_backward_input<Host>(host, args);
  row_norm_backward_parameters<Host>(host, args);
  for (Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    row_norm_forward(host, forward(tuned, y.tuned()));
    y.check("y");
    CHECK(relative_error(plain, tuned) < tuned_tolerance);
    dw.start_tuned(before);
    db.start_tuned(before);
    const auto tuned_args = backward(tuned, dx.tuned(), dw.tuned(), db.tuned());
    row_norm_backward_input(host, tuned_args);
    row_norm_backward_parameters(host, tuned_args);
    dx.check("dx");
    dw.check("dw");
    if (has_bias) db.check("db");
  }
}

}  // namespace

TEST_CASE("tuned normalization of rows does what the plain one does") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(1);
  for (int shapes = 0; shapes < 200; ++shapes) {
    const index_t channels = random.pick(0, 1) == 0 ? 0 : random.pick(1, 5);
    const index_t length = channels == 0 ? random.pick(2, 150) : channels * random.pick(1, 40);
    compare(host, random, {{random.pick(1, 6), length, channels}, random.slice()},
            random.pick(0, 2) > 0);
  }
}
