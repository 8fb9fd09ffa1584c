// Bodies of lbfgs.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/core/state.hpp>
#include <gpunet/model/network_access.hpp>
#include <gpunet/ops/norm.hpp>
#include <gpunet/optim/lbfgs.hpp>

namespace gpunet::optim {

namespace detail {

// Returns the minimum of the cubic through two points with their slopes, within the bounds. As
// _cubic_interpolate in torch.optim.lbfgs.
GPUNET_INLINE double cubic_minimum(const LinePoint& a, const LinePoint& b, double low,
                                   double high) {
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t),
               square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double least =
      a.t <= b.t ? b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                 : a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
  return std::min(std::max(least, low), high);
}

GPUNET_INLINE LinePoint strong_wolfe(const std::function<LinePoint(double)>& evaluate,
                                     const LinePoint& start, double t, double largest, index_t most,
                                     index_t& evaluations) {
  constexpr double c1 = 1e-4, c2 = 0.9, tolerance_change = 1e-9;
  const auto is_too_high = [&](const LinePoint& p) {
    return p.loss > start.loss + c1 * p.t * start.slope;
  };
  const auto is_flat = [&](const LinePoint& p) {
    return std::abs(p.slope) <= -c2 * start.slope;
  };
  // Steps grow until two points have one that meets the conditions between them.
  LinePoint before = start, now = evaluate(t);
  ++evaluations;
  std::array<LinePoint, 2> ends{start, now};
  index_t i = 0;
  for (; i < most; ++i) {
    if (!is_too_high(now) && !(i > 1 && now.loss >= before.loss)) {
      if (is_flat(now)) return now;
      if (now.slope < 0) {
        t = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
        before = std::exchange(now, evaluate(t));
        ++evaluations;
        continue;
      }
    }
    ends = {before, now};
    break;
  }
  if (i == most) ends = {start, now};

  // The interval between them shrinks.
  bool is_slow = false;
  std::size_t low = ends[0].loss <= ends[1].loss ? 0 : 1;
  while (i < most && !(std::abs(ends[1].t - ends[0].t) * largest < tolerance_change)) {
    const auto [least, greatest] = std::minmax(ends[0].t, ends[1].t);
    t = cubic_minimum(ends[0], ends[1], least, greatest);
    const double margin = 0.1 * (greatest - least);
    const bool is_near = std::min(greatest - t, t - least) < margin;
    if (is_near && (is_slow || t >= greatest || t <= least)) {
      t = std::abs(t - greatest) < std::abs(t - least) ? greatest - margin : least + margin;
      is_slow = false;
    } else {
      is_slow = is_near;
    }
    now = evaluate(t);
    ++evaluations;
    ++i;
    const std::size_t high = 1 - low;
    if (is_too_high(now) || now.loss >= ends[low].loss) {
      ends[high] = now;
      low = ends[0].loss <= ends[1].loss ? 0 : 1;
    } else {
      const bool done = is_flat(now);
      if (!done && now.slope * (ends[high].t - ends[low].t) >= 0) ends[high] = ends[low];
      ends[low] = now;
      if (done) break;
    }
  }
  return ends[low];
}

// sums[b] = the sum over block b of x y. One sum = one block.
template <class T>
struct DotBlocks {
  index_t n, length;
  const T *x, *y;
  double* sums;
  GPUNET_FN double operator()(index_t b, index_t r) const {
    const index_t i = b * length + r;
    return i < n ? static_cast<double>(x[i]) * static_cast<double>(y[i]) : 0.0;
  }
  GPUNET_FN void store(index_t b, double sum) const { sums[b] = sum; }
};

// y[i] += a x[i]
template <class T>
struct AddScaled {
  T a;
  const T* x;
  T* y;
  GPUNET_FN void operator()(index_t i) const { y[i] += a * x[i]; }
};

// y[i] = a x[i]
template <class T>
struct SetScaled {
  T a;
  const T* x;
  T* y;
  GPUNET_FN void operator()(index_t i) const { y[i] = a * x[i]; }
};

}  // namespace detail

template <class D, class T>
LBFGS<D, T>::LBFGS(Network<D, T>& model, LBFGSOptions options)
    : ParamGroups("LBFGS", options.lr, std::nullopt, std::nullopt, model.named_parameters().size()),
      model_(model),
      options_(options) {
  if (!options_.max_eval) options_.max_eval = options.max_iter * 5 / 4;
  require_option(options.max_iter >= 1, name_, "max_iter", options.max_iter, "1 or more");
  require_option(*options_.max_eval >= 1, name_, "max_eval", *options_.max_eval, "1 or more");
  require_option(options.history_size >= 1, name_, "history_size", options.history_size,
                 "1 or more");
  check_option("tolerance_grad", options.tolerance_grad);
  check_option("tolerance_change", options.tolerance_change);
}

template <class D, class T>
double LBFGS<D, T>::minimize(const std::function<double()>& closure) {
  const double first_loss = evaluate(closure);
  find_parameters();
  double loss = first_loss;
  Array g = gradient();
  index_t evaluations = 1;
  if (norm_of<NormInf>(g->data()) <= options_.tolerance_grad) return first_loss;
  for (index_t i = 1; i <= options_.max_iter; ++i) {
    update_direction(g);
    const double loss_before = loss, slope = dot(g->data(), direction_.data());
    t_ = ++iterations_ == 1 ? std::min(1.0, 1.0 / norm_of<Norm1>(g->data())) * lr() : lr();
    previous_gradient_ = g;
    if (slope > -options_.tolerance_change) break;

    if (options_.line_search_fn == LineSearch::strong_wolfe) {
      const Buffer<T, D> x = copy(model_->parameters().data());
      const auto at = [&](double t) -> detail::LinePoint {
        move(t);
        const double value = evaluate(closure);
        const Array there = gradient();
        const auto use = model_->exclusive_use();
        model_->device().copy(model_->parameters().data(), x.data(), x.bytes());
        model_->note_update();
        return {t, value, there, dot(there->data(), direction_.data())};
      };
      const detail::LinePoint found =
          detail::strong_wolfe(at, {0, loss, g, slope}, t_, norm_of<NormInf>(direction_.data()),
                               *options_.max_eval - evaluations, evaluations);
      t_ = found.t;
      loss = found.loss;
      g = std::static_pointer_cast<const Buffer<T, D>>(found.gradient);
      move(t_);
    } else {
      move(t_);
      if (i == options_.max_iter) break;  // the next call evaluates the loss there
      loss = evaluate(closure);
      g = gradient();
      ++evaluations;
    }
    if (evaluations >= *options_.max_eval) break;
    if (norm_of<NormInf>(g->data()) <= options_.tolerance_grad) break;
    if (std::abs(t_) * norm_of<NormInf>(direction_.data()) <= options_.tolerance_change) break;
    if (std::abs(loss - loss_before) < options_.tolerance_change) break;
  }
  return first_loss;
}

template <class D, class T>
double LBFGS<D, T>::evaluate(const std::function<double()>& closure) {
  const double loss = closure();
  require(
      !model_->gradients().zeroed(),
      "gpunet::optim::LBFGS::step: the function has computed no gradients (there is no direction "
      "without), call zero_grad(), compute the loss, call its backward() and return it");
  return loss;
}

template <class D, class T>
void LBFGS<D, T>::find_parameters() {
  const std::vector<Segment>& segments = segments_of(
      model_->graph(), model_->plan(), gpunet::detail::NetworkAccess::plan_number(*model_));
  if (layout() == layout_of_ranges_) return;
  layout_of_ranges_ = layout();
  const auto before =
      std::exchange(ranges_, segments.empty() ? std::vector<ArenaRange>() : segments[0].ranges);
  if (ranges_ == before) return;
  changes_.clear();
  iterations_ = 0;
  scale_ = 1;
}

template <class D, class T>
void LBFGS<D, T>::visit_state(StateVisitor& state) {
  const auto use = model_->exclusive_use();
  find_parameters();
  this->visit_rates(state);
  state.count("n_iter", iterations_);
  state.value("t", t_);
  state.value("H_diag", scale_);
  const auto visit = [&](const std::string& name, Buffer<T, D>& x) {
    if (x.size() == 0) x.reset(model_->device(), size());
    state.array(name, {size()}, model_->device(), x.data());
  };
  if (state.has("d", direction_.size() > 0)) visit("d", direction_);
  if (state.has("prev_flat_grad", previous_gradient_ != nullptr)) {
    auto kept =
        std::make_shared<Buffer<T, D>>(previous_gradient_ ? copy(previous_gradient_->data())
                                                          : Buffer<T, D>(model_->device(), size()));
    visit("prev_flat_grad", *kept);
    if (state.is_reading()) previous_gradient_ = kept;
  }
  std::deque<Change> changes;
  for (std::size_t i = 0;; ++i) {
    const std::string number = std::to_string(i);
    if (!state.has("ro." + number, i < changes_.size())) break;
    const bool is_here = i < changes_.size();
    Change& change = changes.emplace_back(
        is_here ? Change{copy(changes_[i].y.data()), copy(changes_[i].s.data()), changes_[i].ro}
                : Change{});
    state.value("ro." + number, change.ro);
    visit("old_dirs." + number, change.y);
    visit("old_stps." + number, change.s);
  }
  while (std::ssize(changes) > options_.history_size)
    changes.pop_front();
  if (state.is_reading()) changes_ = std::move(changes);
}

template <class D, class T>
void LBFGS<D, T>::update_direction(const Array& gradient) {
  if (direction_.size() == 0) direction_.reset(model_->device(), size());
  T* const d = direction_.data();
  if (iterations_ == 0) return scale(-1, gradient->data(), d);

  Change change{copy(gradient->data()), copy(d), 0};
  add(-1, previous_gradient_->data(), change.y.data());
  scale(t_, change.s.data(), change.s.data());
  const double ys = dot(change.y.data(), change.s.data());
  if (ys > 1e-10) {
    change.ro = 1 / ys;
    scale_ = ys / dot(change.y.data(), change.y.data());
    if (static_cast<index_t>(changes_.size()) == options_.history_size) changes_.pop_front();
    changes_.push_back(std::move(change));
  }
  // The two loops (Nocedal and Wright 2006, algorithm 7.4).
  scale(-1, gradient->data(), d);
  std::vector<double> alpha(changes_.size());
  for (std::size_t i = changes_.size(); i-- > 0;) {
    alpha[i] = dot(changes_[i].s.data(), d) * changes_[i].ro;
    add(-alpha[i], changes_[i].y.data(), d);
  }
  scale(scale_, d, d);
  for (std::size_t i = 0; i < changes_.size(); ++i)
    add(alpha[i] - dot(changes_[i].y.data(), d) * changes_[i].ro, changes_[i].s.data(), d);
}

template <class D, class T>
auto LBFGS<D, T>::gradient() const -> Array {
  D& device = model_->device();
  Buffer<T, D> result(device, size());
  fill(device, size(), T{}, result.data());
  for (const ArenaRange& range : ranges_)
    device.copy(result.data() + range.begin, model_->gradients().data() + range.begin,
                static_cast<std::size_t>(range.size()) * sizeof(T));
  return std::make_shared<const Buffer<T, D>>(std::move(result));
}

template <class D, class T>
Buffer<T, D> LBFGS<D, T>::copy(const T* x) const {
  Buffer<T, D> result(model_->device(), size());
  model_->device().copy(result.data(), x, result.bytes());
  return result;
}

template <class D, class T>
double LBFGS<D, T>::dot(const T* a, const T* b) {
  D& device = model_->device();
  const index_t blocks = std::max(ceil_div(size(), norm_block), index_t{1});
  if (sums_.size() < blocks) sums_.reset(device, blocks);
  const index_t length = ceil_div(size(), blocks);
  sum_each(device, blocks, length, detail::DotBlocks<T>{size(), length, a, b, sums_.data()});
  std::vector<double> sums(static_cast<std::size_t>(blocks));
  device.download(sums.data(), sums_.data(), sums.size() * sizeof(double));
  double sum = 0;
  for (const double part : sums)
    sum += part;
  return sum;
}

template <class D, class T>
template <class Kind>
double LBFGS<D, T>::norm_of(const T* x) {
  const auto [result, scratch, number] =
      model_->gradients().begin_measurement(model_->device(), norm_scratch_bytes(size()));
  norm<Kind>(model_->device(), size(), x, scratch, result);
  T value;
  model_->device().download(&value, result, sizeof value);
  return static_cast<double>(value);
}

template <class D, class T>
void LBFGS<D, T>::add(double a, const T* x, T* y) const {
  for_each(model_->device(), size(), detail::AddScaled<T>{static_cast<T>(a), x, y});
}

template <class D, class T>
void LBFGS<D, T>::scale(double a, const T* x, T* y) const {
  for_each(model_->device(), size(), detail::SetScaled<T>{static_cast<T>(a), x, y});
}

template <class D, class T>
void LBFGS<D, T>::move(double t) {
  const auto use = model_->exclusive_use();
  add(t, direction_.data(), model_->parameters().data());
  model_->note_update();
}

GPUNET_COMPILE_TEMPLATES(GPUNET_LBFGS)

}  // namespace gpunet::optim
