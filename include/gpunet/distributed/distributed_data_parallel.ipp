// Bodies of distributed_data_parallel.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <gpunet/core/text.hpp>
#include <gpunet/device/traits.hpp>
#include <gpunet/distributed/distributed_data_parallel.hpp>
#include <gpunet/model/network_access.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/version.hpp>

namespace gpunet::distributed {

namespace detail {

// Returns which parameters have gradients, a line each.
template <class D, class T>
std::string trained_parameters(const Network<D, T>& net) {
  const std::vector<ParameterInfo>& parameters = net.named_parameters();
  std::string text;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    text += concat(net.plan().has_gradient[p] ? "trained " : "frozen ", parameters[p].name, "\n");
  return text;
}

// Returns the properties that have to be the same on all ranks, a line each.
template <class D, class T>
std::string description_of(const Network<D, T>& net,
                           const DistributedDataParallelOptions& options) {
  std::string text =
      concat("gpunet ", GPUNET_VERSION, "\n", io::to_string(io::dtype_of<T>()), " numbers\n");
  for (const ParameterInfo& p : net.named_parameters())
    text += concat("parameter ", p.name, " ", to_string(p.sizes), "\n");
  for (const BufferInfo& b : net.named_buffers())
    text += concat("buffer ", b.name, " ", to_string(b.sizes), "\n");
  if (options.reduction == Reduction::fixed_tree)
    text += concat("Reduction::fixed_tree of ", options.tree_leaves, " leaves\n");
  text += trained_parameters(net);
  text += concat("sync_batch_norm ", options.sync_batch_norm ? "on" : "off", "\nbroadcast_buffers ",
                 options.broadcast_buffers ? "on" : "off", "\nbucket_cap_mb ",
                 options.bucket_cap_mb, "\n");
  return text;
}

// Throws Error for the first rank and line where the texts of the ranks differ.
inline void require_same(const std::vector<std::string>& texts) {
  if (const auto difference = gpunet::detail::first_difference(texts))
    throw_error(Error(concat(
        "gpunet::distributed::DistributedDataParallel: rank ", difference->text, " has ",
        difference->line, " where rank 0 has ", difference->of_first,
        " (their gradients cannot be added), make the same network by the same program on all "
        "ranks")));
}

}  // namespace detail

template <class D, class T>
DistributedDataParallel<D, T>::DistributedDataParallel(
    Network<D, T>& net, const Communicator& comm, const DistributedDataParallelOptions& options)
    : net_(net), comm_(comm), options_(options) {
  require(options.bucket_cap_mb > 0, "gpunet::distributed::DistributedDataParallel: bucket_cap_mb ",
          options.bucket_cap_mb, " (want more than 0), leave it out for 25");
  require(!net.reducer(),
          "gpunet::distributed::DistributedDataParallel: the network has one already (its "
          "gradients would be reduced twice), use that");
  verify();
  trained_ = detail::trained_parameters(net);
  if (options.reduction == Reduction::fixed_tree) tree_.emplace(net, comm, options.tree_leaves);
  const ModelUse::Exclusive use = net.exclusive_use();
  broadcast(net.parameters());
  broadcast(net.buffers());
  net.note_update();
  gpunet::detail::NetworkAccess::set_reducer(net, this);
}

template <class D, class T>
DistributedDataParallel<D, T>::~DistributedDataParallel() {
  if (started_ > 0) comm_.abandon("an error has ended its backward pass");
  if (net_.exists()) gpunet::detail::NetworkAccess::set_reducer(*net_, nullptr);
}

template <class D, class T>
NoSync<D, T> DistributedDataParallel<D, T>::no_sync() {
  require(!tree_,
          "gpunet::distributed::DistributedDataParallel::no_sync: with Reduction::fixed_tree, "
          "gradients are reduced with each batch (sums of several would depend on the number of "
          "ranks), use train::Step or fit with {.accumulate = k}");
  return NoSync<D, T>(this);
}

template <class D, class T>
void DistributedDataParallel<D, T>::sum(std::span<double> numbers) {
  const index_t size = std::ssize(numbers);
  if (!tree_) {
    comm_.run({.kind = Collective::all_reduce,
               .elements = size,
               .type = io::Dtype::F64,
               .data = numbers.data()});
    return;
  }
  std::vector<double> all(numbers.size() * static_cast<std::size_t>(comm_.size()));
  comm_.run({.kind = Collective::all_gather,
             .elements = size,
             .type = io::Dtype::F64,
             .from = numbers.data(),
             .data = all.data()});
  detail::add_rows(all.data(), comm_.size(), size);
  std::copy_n(all.begin(), numbers.size(), numbers.begin());
}

template <class D, class T>
void DistributedDataParallel<D, T>::begin_pass() {
  if (!this->reduces() || comm_.size() == 1) return;
  verify_trained();  // a recorded step cannot
  if (options_.broadcast_buffers && !tree_) sync_buffers();
}

template <class D, class T>
void DistributedDataParallel<D, T>::verify_parameters() {
  if (comm_.size() == 1) return;
  const std::vector<T> values = to_vector(net_->device(), std::as_const(*net_).parameters());
  // Squares, and values with the signs of a linear congruential generator (Knuth's MMIX).
  double own[] = {0, 0};
  std::uint64_t random = 1;
  for (const T value : values) {
    const auto x = static_cast<double>(value);
    random = random * 6364136223846793005U + 1442695040888963407U;
    own[0] += x * x;
    own[1] += random >> 63 ? x : -x;
  }
  comm_.barrier();  // compared with the calls of the other ranks
  std::vector<std::array<double, 2>> all(static_cast<std::size_t>(comm_.size()));
  comm_.run({.kind = Collective::all_gather,
             .elements = 2,
             .type = io::Dtype::F64,
             .from = own,
             .data = all.data(),
             .is_checked = true});
  const auto is_same = [&](const std::array<double, 2>& x) {
    const auto [squares, sum] = all[0];
    if (!std::isfinite(squares)) return !std::isfinite(x[0]);
    const double norm = std::sqrt(squares), most = 1e-4 * norm;
    return std::abs(std::sqrt(x[0]) - norm) <= most && std::abs(x[1] - sum) <= most;
  };
  for (std::size_t r = 1; r < all.size(); ++r)
    require(is_same(all[r]), "gpunet::distributed::DistributedDataParallel: rank ", r,
            " has other parameters than rank 0 (norms ", std::sqrt(all[r][0]), " and ",
            std::sqrt(all[0][0]),
            ": something that is not the same on all ranks has changed them), give all ranks the "
            "same optimizer, schedule and calls");
}

template <class D, class T>
void DistributedDataParallel<D, T>::verify() {
  const std::string own = detail::description_of(*net_, options_);
  std::vector<std::string> texts = comm_.all_gather(std::to_string(std::hash<std::string>{}(own)));
  if (std::equal(texts.begin() + 1, texts.end(), texts.begin())) return;
  detail::require_same(comm_.all_gather(own));
}

template <class D, class T>
void DistributedDataParallel<D, T>::broadcast(const View<T, D>& array) {
  if (array.numel() == 0 || comm_.size() == 1) return;
  Communicator::EngineArray<T, D> at(comm_, net_->device(), array.data(), array.numel());
  comm_.run({.kind = Collective::broadcast,
             .elements = array.numel(),
             .type = io::dtype_of<T>(),
             .data = at.data(),
             .is_of_training = true,
             .stream = at.stream()});
  at.upload();
}

template <class D, class T>
void DistributedDataParallel<D, T>::sync_buffers() {
  broadcast(net_->buffers());
}

template <class D, class T>
double* DistributedDataParallel<D, T>::numbers(index_t n) {
  if (statistics_.size() < n) statistics_.reset(net_->device(), n);
  return statistics_.data();
}

template <class D, class T>
void DistributedDataParallel<D, T>::gather(const double* from, index_t n, double* to) {
  Communicator::EngineArray<const double, D> own(comm_, net_->device(), from, n);
  Communicator::EngineArray<double, D> all(comm_, net_->device(), to, n * ranks(), false);
  comm_.run({.kind = Collective::all_gather,
             .elements = n,
             .type = io::Dtype::F64,
             .from = own.data(),
             .data = all.data(),
             .is_of_training = true,
             .stream = all.stream()});
  all.upload();
}

template <class D, class T>
void DistributedDataParallel<D, T>::sum(double* numbers, index_t n) {
  Communicator::EngineArray<double, D> at(comm_, net_->device(), numbers, n);
  comm_.run({.kind = Collective::all_reduce,
             .elements = n,
             .type = io::Dtype::F64,
             .data = at.data(),
             .is_of_training = true,
             .stream = at.stream()});
  at.upload();
}

template <class D, class T>
void DistributedDataParallel<D, T>::make_buckets() {
  if (plan_number_ == gpunet::detail::NetworkAccess::plan_number(*net_)) return;
  const Plan& plan = net_->plan();
  const std::vector<ParameterInfo>& parameters = net_->named_parameters();
  open_buckets();  // of the plan before
  plan_number_ = gpunet::detail::NetworkAccess::plan_number(*net_);
  std::vector<int> order, bucket_of(parameters.size(), -1);
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (plan.has_gradient[p]) order.push_back(static_cast<int>(p));
  const auto info = [&](int p) -> const ParameterInfo& {
    return parameters[static_cast<std::size_t>(p)];
  };
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return info(a).offset > info(b).offset; });
  ranges_.clear();
  constexpr double mega = 1 << 20;
  double cap = std::min(mega, options_.bucket_cap_mb * mega);  // of the first bucket
  for (const int p : order) {
    const bool is_full =
        !ranges_.empty() && static_cast<double>(ranges_.back().size()) * sizeof(T) >= cap;
    const bool begins = ranges_.empty() || ranges_.back().begin != info(p).end() || is_full;
    if (is_full) cap = options_.bucket_cap_mb * mega;
    if (begins)
      ranges_.push_back({info(p).offset, info(p).end()});
    else
      ranges_.back().begin = info(p).offset;
    bucket_of[static_cast<std::size_t>(p)] = static_cast<int>(ranges_.size()) - 1;
  }
  buckets_.assign(ranges_.size(), {});
  of_nodes_.assign(plan.nodes.size(), {});
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const PlannedNode& planned = plan.nodes[n];
    if (!planned.has_backward || planned.skips_parameters) continue;
    const Node& node = net_->fused_graph().nodes[static_cast<std::size_t>(planned.node)];
    for (int p = node.first_parameter; p < node.first_parameter + node.parameters; ++p)
      if (const int b = bucket_of[static_cast<std::size_t>(p)];
          b >= 0 && std::find(of_nodes_[n].begin(), of_nodes_[n].end(), b) == of_nodes_[n].end()) {
        of_nodes_[n].push_back(b);
        ++buckets_[static_cast<std::size_t>(b)].nodes;
      }
  }
  open_buckets();
}

template <class D, class T>
void DistributedDataParallel<D, T>::verify_trained() {
  if (verified_plan_ == gpunet::detail::NetworkAccess::plan_number(*net_)) return;
  make_buckets();
  std::string trained = detail::trained_parameters(*net_);
  if (trained != trained_)
    detail::require_same(comm_.all_gather(trained, "because it has frozen or unfrozen parameters"));
  trained_ = std::move(trained);
  verified_plan_ = plan_number_;
}

template <class D, class T>
const std::vector<ArenaRange>& DistributedDataParallel<D, T>::buckets() {
  make_buckets();
  return ranges_;
}

template <class D, class T>
void DistributedDataParallel<D, T>::start_next(T* gradients) {
  const ArenaRange& range = ranges_[started_];
  buckets_[started_].number =
      comm_.start({.kind = Collective::all_reduce,
                   .elements = range.size(),
                   .type = io::dtype_of<T>(),
                   .data = gradients + range.begin,
                   .stream = stream(),
                   .owner = reduces_in_place() ? net_->gradients().owner() : host_copy_});
  ++started_;
}

template <class D, class T>
void DistributedDataParallel<D, T>::see_gradients(const PlannedNode& node, std::span<T* const>,
                                                  const T* gradients) {
  if (!this->reduces() || tree_ || comm_.size() == 1 || !reduces_in_place()) return;
  verify_trained();
  const std::ptrdiff_t place = &node - net_->plan().nodes.data();
  // A pass begins, perhaps after one that an error has ended.
  if (place >= last_node_) open_buckets();
  last_node_ = place;
  for (const int b : of_nodes_[static_cast<std::size_t>(place)])
    --buckets_[static_cast<std::size_t>(b)].open;
  while (started_ < buckets_.size() && buckets_[started_].open == 0)
    start_next(const_cast<T*>(gradients));
  comm_.advance();
}

template <class D, class T>
void DistributedDataParallel<D, T>::reduce(T* gradients) {
  if (tree_) return tree_->check_running();
  if (!this->reduces() || comm_.size() == 1) return;
  verify_trained();
  D& device = net_->device();
  T* at = gradients;
  const auto bytes = static_cast<std::size_t>(net_->gradients().size()) * sizeof(T);
  if (!reduces_in_place()) {
    host_copy_->resize(static_cast<std::size_t>(net_->gradients().size()));
    at = host_copy_->data();
    device.download(at, gradients, bytes);
  }
  while (started_ < buckets_.size())
    start_next(at);
  open_buckets();
  if (!reduces_in_place()) device.upload(gradients, at, bytes);
  for (const ArenaRange& range : ranges_)
    map(device, range.size(), MultiplyBy<T>{T{1} / static_cast<T>(comm_.size())},
        gradients + range.begin, gradients + range.begin);
}

template <class D, class T>
void DistributedDataParallel<D, T>::open_buckets() {
  const std::size_t started = std::exchange(started_, 0);
  for (std::size_t b = 0; b < started; ++b)
    comm_.wait(buckets_[b].number);
  for (Bucket& bucket : buckets_)
    bucket.open = bucket.nodes;
  last_node_ = std::numeric_limits<std::ptrdiff_t>::max();
}

template <class D, class T>
bool DistributedDataParallel<D, T>::reduces_in_place() const {
  return DeviceTraits<D>::has_host_memory || comm_.takes_device_memory();
}

template <class D, class T>
void* DistributedDataParallel<D, T>::stream() const {
  if constexpr (!DeviceTraits<D>::has_host_memory)
    if (comm_.takes_device_memory()) return net_->device().stream();
  return nullptr;
}

GPUNET_COMPILE_TEMPLATES(GPUNET_DISTRIBUTED_DATA_PARALLEL)

}  // namespace gpunet::distributed
