// L-BFGS: a quasi-Newton method for small models and whole datasets.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

// How LBFGS finds the length of a step: lr, or a search for one that meets the strong Wolfe
// conditions.
enum class LineSearch { none, strong_wolfe };

// Options of torch.optim.LBFGS.
struct LBFGSOptions {
  double lr = 1;          // learning rate: the length of a step, or where the search begins
  index_t max_iter = 20;  // iterations in a call of step()
  // Evaluations of the loss in it; default: max_iter * 5 / 4.
  std::optional<index_t> max_eval = std::nullopt;
  double tolerance_grad = 1e-7;  // stops where no gradient is larger
  // Stops where parameters, or the loss, change less.
  double tolerance_change = 1e-9;
  index_t history_size = 100;  // number of earlier steps that it stores
  LineSearch line_search_fn = LineSearch::none;
};

namespace detail {

// A point of a line search: t along the direction, the loss, the gradient, and its product with the
// direction.
struct LinePoint {
  double t, loss;
  std::shared_ptr<const void> gradient;
  double slope;
};

// Returns a point that meets the strong Wolfe conditions (c1 = 1e-4, c2 = 0.9), or the best one
// after `most` more evaluations. `start` has t = 0, `t` is the first to try, `largest` the largest
// element of the direction. Adds to `evaluations`. As _strong_wolfe in torch.optim.lbfgs.
LinePoint strong_wolfe(const std::function<LinePoint(double)>& evaluate, const LinePoint& start,
                       double t, double largest, index_t most, index_t& evaluations);

}  // namespace detail

// The optimizer LBFGS for the parameters of a model, which must outlive it. A step evaluates the
// loss several times, by a function that computes it and its gradients:
//   optim::LBFGS optimizer(net, {.line_search_fn = optim::LineSearch::strong_wolfe});
//   const double loss = optimizer.step([&] {
//     optimizer.zero_grad();
//     auto loss = criterion(net(inputs), targets);
//     loss.backward();
//     return loss;
//   });
// It waits for the device several times in each iteration, and stores 2 history_size + 6 numbers
// per parameter. It is no optimizer for train::Step and train::fit, which evaluate each batch once.
// Where other parameters are frozen than in the last step, it begins anew.
template <class D, class T = float>
class LBFGS : public ParamGroups {
 public:
  explicit LBFGS(Network<D, T>& model, LBFGSOptions options = {});

  // Updates some parameters of a model:
  //   optim::LBFGS optimizer(net.parameters("fc.*"));
  explicit LBFGS(const Parameters<D, T>& parameters, LBFGSOptions options = {})
      : LBFGS(parameters.network(), options) {
    this->select(parameters.indices());
  }

  // A compile error: all parameters move along one direction, by one length.
  template <class Some>
  void add_param_group(const Some&, const ParamGroupOptions& = {}) {
    static_assert(std::is_void_v<Some>,
                  "gpunet::optim::LBFGS: it has no groups of parameters (they move along one "
                  "direction, by one length), give it some parameters, optim::LBFGS "
                  "optimizer(net.parameters(pattern)), or take another optimizer");
  }

  // Writes or reads rates and the history of steps, for a checkpoint.
  void visit_state(StateVisitor& state);

  void zero_grad() { model_->zero_grad(); }
  const Network<D, T>& model() const { return *model_; }

  // Returns the loss before the step. Throws Error if the closure computes no gradients.
  template <class Closure>
  double step(Closure&& closure) {
    return minimize([&]() -> double {
      auto loss = closure();
      if constexpr (requires { loss.item(); })
        return static_cast<double>(loss.item());
      else
        return static_cast<double>(loss);
    });
  }

 private:
  // An array with one number per parameter, [arena].
  using Array = std::shared_ptr<const Buffer<T, D>>;
  // A step s and the change of the gradient y in it; ro = 1 / (y s).
  struct Change {
    Buffer<T, D> y, s;
    double ro;
  };

  double minimize(const std::function<double()>& closure);
  double evaluate(const std::function<double()>& closure);
  // Finds the parameters that are updated; others have no gradient here, and stay.
  void find_parameters();
  // Sets the direction of the next iteration, and remembers the change of the gradient since the
  // last one.
  void update_direction(const Array& gradient);

  index_t size() const { return model_->parameters().numel(); }
  Array gradient() const;
  Buffer<T, D> copy(const T* x) const;
  double dot(const T* a, const T* b);
  template <class Kind>
  double norm_of(const T* x);
  // y += a x
  void add(double a, const T* x, T* y) const;
  // y = a x
  void scale(double a, const T* x, T* y) const;
  // parameters += t direction
  void move(double t);

  TrackedPointer<Network<D, T>> model_;
  LBFGSOptions options_;
  index_t iterations_ = 0;
  double t_ = 0, scale_ = 1;        // of the last step; of the initial Hessian
  std::vector<ArenaRange> ranges_;  // of the parameters that are updated
  std::uint64_t layout_of_ranges_ = 0;
  Buffer<T, D> direction_;
  Array previous_gradient_;
  std::deque<Change> changes_;
  Buffer<double, D> sums_;
};

GPUNET_REFUSED_OPTIMIZERS(LBFGS)

#define GPUNET_LBFGS(D, T) class LBFGS<D, T>
GPUNET_EXTERN_TEMPLATES(GPUNET_LBFGS)

}  // namespace gpunet::optim

#if !GPUNET_COMPILED
#include <gpunet/optim/lbfgs.ipp>
#endif
