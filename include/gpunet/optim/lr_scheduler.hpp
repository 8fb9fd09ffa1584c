// Learning rate schedules, as in torch.optim.lr_scheduler.
#pragma once

#include <functional>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/optim/rates.hpp>

namespace gpunet::optim::lr_scheduler {

// The most steps of a schedule: a double cannot distinguish more.
inline constexpr index_t most_steps = index_t{1} << 53;

// The base of schedules. A schedule sets the learning rate of an optimizer, which must outlive it,
// when it is constructed and in each step(), called once per epoch or once per batch after the
// optimizer's own step(): that of each of its groups, or that of one group, StepLR
// scheduler(optimizer.group(1), {.step_size = 30}). Values are bitwise identical to PyTorch's. Most
// are computed from the value before, so that a learning rate set in between has a lasting effect.
class LRScheduler {
 public:
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;
  virtual ~LRScheduler() = default;

  // Sets the learning rate of the next epoch or batch.
  void step();
  // Returns the learning rate that was set last; that of the first group.
  double get_last_lr() const { return last_lr_; }
  // Returns the number of steps so far.
  index_t last_epoch() const { return epoch_; }

  // Writes or reads where it is, for a checkpoint. The rates are in that of the optimizer.
  GPUNET_INLINE_VIRTUAL virtual void visit_state(StateVisitor& state);

 protected:
  explicit LRScheduler(Rates& rates)
      : rates_(rates), base_lr_(rates.initial_lr()), optimizer_(rates) {}

  // Returns the learning rate of epoch 0, computed from the optimizer's.
  GPUNET_INLINE_VIRTUAL virtual double first();
  // Returns the learning rate of a later epoch, last_epoch().
  virtual double next() = 0;

  // Starts at epoch 0. Every constructor ends with this call.
  void begin();
  // Starts at epoch 0 again, from the initial learning rate.
  void restart();

  // The group that first() and next() compute for, its initial learning rate, and whether it is the
  // optimizer's first.
  TrackedPointer<Rates> rates_;
  double base_lr_;
  bool is_first_group_ = true;

 private:
  friend class SequentialLR;
  friend class ChainedScheduler;

  // Sets the learning rate of every group to the result of `rate`.
  void set(double (LRScheduler::*rate)());
  double base_lr() { return base_lr_; }

  TrackedPointer<Rates> optimizer_;

  index_t epoch_ = 0;
  double last_lr_ = 0;
};

// Options of torch.optim.lr_scheduler.StepLR.
struct StepLROptions {
  index_t step_size = 1;  // steps from one change to the next
  double gamma = 0.1;     // the factor
};

// Multiplies the learning rate by gamma at every step_size-th step:
//   StepLR scheduler(optimizer, {.step_size = 30});
class StepLR : public LRScheduler {
 public:
  StepLR(Rates& optimizer, const StepLROptions& options);

 private:
  GPUNET_INLINE_VIRTUAL double next() override;

  StepLROptions options_;
};

// Options of torch.optim.lr_scheduler.MultiStepLR.
struct MultiStepLROptions {
  std::vector<index_t> milestones;  // the steps at which it changes
  double gamma = 0.1;               // the factor
};

// Multiplies the learning rate by gamma at each milestone, given in any order:
//   MultiStepLR scheduler(optimizer, {.milestones = {30, 80}});
class MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Rates& optimizer, MultiStepLROptions options);

 private:
  GPUNET_INLINE_VIRTUAL double first() override;
  GPUNET_INLINE_VIRTUAL double next() override;

  MultiStepLROptions options_;
};

// Options of torch.optim.lr_scheduler.ExponentialLR.
struct ExponentialLROptions {
  double gamma = 1;  // the factor
};

// Multiplies the learning rate by gamma at every step:
//   ExponentialLR scheduler(optimizer, {.gamma = 0.9});
class ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Rates& optimizer, const ExponentialLROptions& options);

 private:
  GPUNET_INLINE_VIRTUAL double next() override;

  ExponentialLROptions options_;
};

// Options of torch.optim.lr_scheduler.CosineAnnealingLR.
struct CosineAnnealingLROptions {
  index_t T_max = 1;   // steps from the highest learning rate to the lowest
  double eta_min = 0;  // the lowest learning rate
};

// Follows a cosine from the initial learning rate down to eta_min in T_max steps, then up again
// (Loshchilov and Hutter 2017, without restarts):
//   CosineAnnealingLR scheduler(optimizer, {.T_max = 100});
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Rates& optimizer, const CosineAnnealingLROptions& options);

 private:
  GPUNET_INLINE_VIRTUAL double next() override;

  double height(index_t epoch) const;

  CosineAnnealingLROptions options_;
};

// Options of torch.optim.lr_scheduler.LinearLR.
struct LinearLROptions {
  double start_factor = 1.0 / 3;  // of the first step, more than 0
  double end_factor = 1;          // of the last step
  index_t total_iters = 5;        // steps from one to the other
};

// Multiplies the learning rate by a factor that goes from start_factor to end_factor in total_iters
// steps, for a warm-up:
//   LinearLR scheduler(optimizer, {.start_factor = 0.1, .total_iters = 10});
// With total_iters = 0 the factor stays start_factor.
class LinearLR : public LRScheduler {
 public:
  LinearLR(Rates& optimizer, const LinearLROptions& options);

 private:
  GPUNET_INLINE_VIRTUAL double first() override;
  GPUNET_INLINE_VIRTUAL double next() override;

  LinearLROptions options_;
};

// Options of torch.optim.lr_scheduler.ConstantLR.
struct ConstantLROptions {
  double factor = 1.0 / 3;  // of the first steps, more than 0 and at most 1
  index_t total_iters = 5;  // their number
};

// Multiplies the learning rate by a factor for the first total_iters steps:
//   ConstantLR scheduler(optimizer, {.factor = 0.1});
class ConstantLR : public LRScheduler {
 public:
  explicit ConstantLR(Rates& optimizer, const ConstantLROptions& options = {});

 private:
  GPUNET_INLINE_VIRTUAL double first() override;
  GPUNET_INLINE_VIRTUAL double next() override;

  ConstantLROptions options_;
};

// Options of torch.optim.lr_scheduler.PolynomialLR.
struct PolynomialLROptions {
  index_t total_iters = 5;  // steps to a learning rate of 0
  double power = 1;         // 1: in a straight line
};

// Multiplies the learning rate by (1 - step / total_iters)^power:
//   PolynomialLR scheduler(optimizer, {.total_iters = 100, .power = 0.9});
class PolynomialLR : public LRScheduler {
 public:
  explicit PolynomialLR(Rates& optimizer, const PolynomialLROptions& options = {});

 private:
  GPUNET_INLINE_VIRTUAL double next() override;

  PolynomialLROptions options_;
};

// Options of torch.optim.lr_scheduler.CosineAnnealingWarmRestarts.
struct CosineAnnealingWarmRestartsOptions {
  index_t T_0 = 1;     // steps of the first cycle
  index_t T_mult = 1;  // each cycle is so many times as long as the one before
  double eta_min = 0;  // the lowest learning rate
};

// Follows a cosine from the initial learning rate down to eta_min, again and again (SGDR,
// Loshchilov and Hutter 2017). It does not see a learning rate set in between:
//   CosineAnnealingWarmRestarts scheduler(optimizer, {.T_0 = 10, .T_mult = 2});
class CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Rates& optimizer, const CosineAnnealingWarmRestartsOptions& options);

  GPUNET_INLINE_VIRTUAL void visit_state(StateVisitor& state) override;

 private:
  GPUNET_INLINE_VIRTUAL double first() override;
  GPUNET_INLINE_VIRTUAL double next() override;

  double lr_of_step() const;

  CosineAnnealingWarmRestartsOptions options_;
  index_t step_ = 0, cycle_ = 1;  // steps since the last restart, and from one to the next
};

// A function of the step that gives a factor.
using FactorOfStep = std::function<double(index_t)>;

// Multiplies the initial learning rate by a function of the step, as
// torch.optim.lr_scheduler.LambdaLR:
//   LambdaLR scheduler(optimizer, [](index_t epoch) { return std::pow(0.95, epoch); });
class LambdaLR : public LRScheduler {
 public:
  LambdaLR(Rates& optimizer, FactorOfStep lr_lambda);

 private:
  GPUNET_INLINE_VIRTUAL double first() override;
  GPUNET_INLINE_VIRTUAL double next() override;

  FactorOfStep lr_lambda_;
};

// Runs schedules one after another; at each milestone the next one starts from the initial learning
// rate:
//   LinearLR warm_up(optimizer, {.total_iters = 10});
//   CosineAnnealingLR decay(optimizer, {.T_max = 90});
//   SequentialLR scheduler(optimizer, {&warm_up, &decay}, {10});
// The schedules must outlive it; only it may step them.
class SequentialLR : public LRScheduler {
 public:
  SequentialLR(Rates& optimizer, std::vector<LRScheduler*> schedulers,
               std::vector<index_t> milestones);

  GPUNET_INLINE_VIRTUAL void visit_state(StateVisitor& state) override;

 private:
  GPUNET_INLINE_VIRTUAL double first() override;
  GPUNET_INLINE_VIRTUAL double next() override;

  LRScheduler& current();

  std::vector<LRScheduler*> schedulers_;
  std::vector<index_t> milestones_;
};

// Runs schedules side by side, so that their factors multiply; the later ones see the rates of the
// earlier ones:
//   ConstantLR slow(optimizer, {.factor = 0.1, .total_iters = 20});
//   ExponentialLR decay(optimizer, {.gamma = 0.9});
//   ChainedScheduler scheduler({&slow, &decay});
// The schedules must outlive it; only it may step them.
class ChainedScheduler : public LRScheduler {
 public:
  explicit ChainedScheduler(std::vector<LRScheduler*> schedulers);

  GPUNET_INLINE_VIRTUAL void visit_state(StateVisitor& state) override;

 private:
  GPUNET_INLINE_VIRTUAL double first() override;
  GPUNET_INLINE_VIRTUAL double next() override;

  // Returns the optimizer of all of them.
  static Rates& rates_of(const std::vector<LRScheduler*>& schedulers);

  std::vector<LRScheduler*> schedulers_;
};

}  // namespace gpunet::optim::lr_scheduler

#if !GPUNET_COMPILED
#include <gpunet/optim/lr_scheduler.ipp>
#endif
