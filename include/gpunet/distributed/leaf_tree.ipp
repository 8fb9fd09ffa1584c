// Bodies of leaf_tree.hpp.
#pragma once

#include <algorithm>
#include <bit>

#include <gpunet/core/math.hpp>
#include <gpunet/distributed/leaf_tree.hpp>
#include <gpunet/model/network_access.hpp>
#include <gpunet/ops/add.hpp>
#include <gpunet/ops/copy_rows.hpp>
#include <gpunet/ops/map.hpp>

namespace gpunet::distributed {

template <class D, class T>
LeafTree<D, T>::LeafTree(Network<D, T>& net, const Communicator& comm, index_t leaves)
    : net_(net), comm_(comm), leaves_(leaves) {
  require(leaves >= 1 && std::has_single_bit(static_cast<std::uint64_t>(leaves)),
          "gpunet::distributed::DistributedDataParallel: tree_leaves ", leaves,
          " (want a power of two: sums are added in pairs), take the largest number of processes, "
          "such as 8");
  require(leaves % comm.size() == 0, "gpunet::distributed::DistributedDataParallel: ", comm.size(),
          " ranks and ", leaves,
          " leaves (each rank needs equally many), start 1, 2, 4, ... processes, at most as many "
          "as .tree_leaves");
  check_layers();
  std::array<index_t, 2> state{static_cast<index_t>(net.random_state().first),
                               static_cast<index_t>(net.random_state().second)};
  if (comm.size() > 1)
    comm_.run({.kind = Collective::broadcast,
               .elements = 2,
               .type = io::Dtype::I64,
               .data = state.data()});
  gpunet::detail::NetworkAccess::set_random_state(
      net, {static_cast<std::uint64_t>(state[0]), static_cast<std::uint64_t>(state[1])});
}

template <class D, class T>
void LeafTree<D, T>::check_layers() const {
  if (net_->mode() == nn::Mode::eval) return;
  for (const Node& node : net_->graph().nodes)
    require(node.buffers == 0,
            "gpunet::distributed::DistributedDataParallel: with Reduction::fixed_tree, layer ",
            node.name, " (", gpunet::detail::class_of(node.layer),
            ") has statistics of its batch in training mode (they and its outputs would depend on "
            "how samples are shared among ranks), take GroupNorm or LayerNorm, or freeze them: "
            "net.eval() before this and in a loop of train::Step");
}

template <class D, class T>
void LeafTree<D, T>::check_running() const {
  require(
      is_running_,
      "gpunet::distributed::DistributedDataParallel: a backward pass with Reduction::fixed_tree in "
      "a loop of your own (the batch has to run in leaves), use train::Step or train::fit");
}

template <class D, class T>
index_t LeafTree<D, T>::begin_batch(index_t samples) {
  check_layers();
  require(samples % own_leaves() == 0, "gpunet::distributed::DistributedDataParallel: ", samples,
          " samples on a rank with ", own_leaves(), " of ", leaves_,
          " leaves of Reduction::fixed_tree (all leaves have equally many), give all ranks a "
          "multiple of ",
          own_leaves(),
          ", and leave out what is left at the end: {.drop_last = true} of DistributedSampler and "
          "of DataLoader");
  is_running_ = true;
  samples_ = samples;
  done_ = 0;
  depth_ = 0;
  random_state_ = net_->random_state();
  has_older_ = !net_->gradients().zeroed();
  if (has_older_) push();
  return own_leaves();
}

template <class D, class T>
void LeafTree<D, T>::begin_leaf() {
  leaf_ = detail::reversed_bits(done_, own_leaves());
  // Each leaf has the random numbers of a pass of its own.
  const auto [seed, passes] = random_state_;
  gpunet::detail::NetworkAccess::set_random_state(
      *net_, {seed, passes + static_cast<std::uint64_t>(comm_.rank() + leaf_ * comm_.size())});
  net_->zero_grad();
}

template <class D, class T>
std::pair<index_t, const void*> LeafTree<D, T>::gather(int number, index_t rows, index_t bytes,
                                                       const void* data) {
  require(rows == samples_, "gpunet::train: ", rows, " targets for a batch of ", samples_,
          " (want one for each sample), give those of the same batch");
  const index_t all = own_leaves(), count = rows / all;
  if (all == 1 || bytes == 0) return {count, data};
  Buffer<std::byte, D>& to = rows_[static_cast<std::size_t>(number)];
  if (to.size() < count * bytes) to.reset(net_->device(), count * bytes);
  const auto copy = [&]<class Word>(Word) {
    const index_t words = bytes / static_cast<index_t>(sizeof(Word));
    gpunet::detail::copy_rows(
        net_->device(), count,
        gpunet::detail::CopyRows<Word>{words, all * words, words,
                                       static_cast<const Word*>(data) + leaf_ * words,
                                       reinterpret_cast<Word*>(to.data())});
  };
  if (bytes % 4 == 0 && reinterpret_cast<std::uintptr_t>(data) % 4 == 0)
    copy(std::uint32_t{});
  else
    copy(std::uint8_t{});
  return {count, to.data()};
}

template <class D, class T>
void LeafTree<D, T>::end_leaf() {
  ++done_;
  for (index_t n = done_; n % 2 == 0; n /= 2)
    add_last(true);
  if (done_ < own_leaves()) push();
}

template <class D, class T>
void LeafTree<D, T>::end_batch() {
  D& device = net_->device();
  T* const gradients = net_->gradients().data();
  T* const loss = gpunet::detail::NetworkAccess::batch_loss(*net_);
  if (comm_.size() > 1) add_ranks();
  const MultiplyBy<T> mean{T{1} / static_cast<T>(leaves_)};
  for (const ArenaRange& range : ranges())
    map(device, range.size(), mean, gradients + range.begin, gradients + range.begin);
  map(device, 1, mean, loss, loss);
  if (has_older_) add_last(false);
  const auto [seed, passes] = random_state_;
  gpunet::detail::NetworkAccess::set_random_state(
      *net_, {seed, passes + static_cast<std::uint64_t>(leaves_)});
  is_running_ = false;
}

template <class D, class T>
void LeafTree<D, T>::abandon_batch() {
  is_running_ = false;
  gpunet::detail::NetworkAccess::set_random_state(*net_, random_state_);
  net_->zero_grad();
  if (!has_older_) return;
  for (const ArenaRange& range : ranges())
    net_->device().copy(net_->gradients().data() + range.begin, sums_[0].data() + range.begin,
                        static_cast<std::size_t>(range.size()) * sizeof(T));
  gpunet::detail::NetworkAccess::note_gradients(*net_);
}

template <class D, class T>
void LeafTree<D, T>::push() {
  D& device = net_->device();
  const index_t size = net_->gradients().size();
  if (depth_ == sums_.size()) sums_.emplace_back(device, size + 1);
  T* const to = sums_[depth_++].data();
  for (const ArenaRange& range : ranges())
    device.copy(to + range.begin, net_->gradients().data() + range.begin,
                static_cast<std::size_t>(range.size()) * sizeof(T));
  device.copy(to + size, gpunet::detail::NetworkAccess::batch_loss(*net_), sizeof(T));
}

template <class D, class T>
void LeafTree<D, T>::add_last(bool with_loss) {
  D& device = net_->device();
  const T* const older = sums_[--depth_].data();
  T* const gradients = net_->gradients().data();
  const auto add = [&](index_t n, const T* more, T* sum) {
    map(device, n, Add{}, more, static_cast<const T*>(sum), sum);
  };
  for (const ArenaRange& range : ranges())
    add(range.size(), older + range.begin, gradients + range.begin);
  if (with_loss)
    add(1, older + net_->gradients().size(), gpunet::detail::NetworkAccess::batch_loss(*net_));
}

template <class D, class T>
void LeafTree<D, T>::add_ranks() {
  D& device = net_->device();
  index_t size = 2;  // the loss and the number of samples
  for (const ArenaRange& range : ranges())
    size += range.size();
  const index_t part = ceil_div(size, comm_.size()), all = part * comm_.size();
  if (!exchanged_ || exchanged_->own.size() != all) {
    exchanged_ = std::make_shared<Exchanged>();
    exchanged_->own.reset(device, all);
    exchanged_->received.reset(device, all);
    fill(device, all, T{}, exchanged_->own.data());
  }
  T* const own = exchanged_->own.data();
  T* const sum = exchanged_->received.data();
  // Calls f(address in the network, place in `own`, bytes) for all that is added up.
  const auto each = [&](auto f) {
    T* place = own;
    for (const ArenaRange& range : ranges()) {
      f(net_->gradients().data() + range.begin, place,
        static_cast<std::size_t>(range.size()) * sizeof(T));
      place += range.size();
    }
    f(gpunet::detail::NetworkAccess::batch_loss(*net_), place, sizeof(T));
  };
  const auto exchange = [&](Collective kind, const T* from, index_t count, T* to) {
    Communicator::EngineArray<const T, D> sent(comm_, device, from, count);
    Communicator::EngineArray<T, D> got(comm_, device, to, all, false);
    comm_.run({.kind = kind,
               .elements = part,
               .type = io::dtype_of<T>(),
               .from = sent.data(),
               .data = got.data(),
               .stream = got.stream(),
               .owner = got.data() == to ? exchanged_ : nullptr});
    got.upload();
  };
  auto samples = static_cast<T>(samples_);
  const T expected = samples * static_cast<T>(comm_.size());
  T* const place = own + size - 1;
  each([&](const T* from, T* to, std::size_t bytes) { device.copy(to, from, bytes); });
  device.upload(place, &samples, sizeof(T));
  exchange(Collective::all_to_all, own, all, sum);
  for (index_t n = comm_.size() / 2; n > 0; n /= 2)
    map(device, n * part, Add{}, sum + n * part, static_cast<const T*>(sum), sum);
  exchange(Collective::all_gather, sum, part, own);
  device.download(&samples, place, sizeof(T));
  require(
      samples == expected,
      "gpunet::distributed::DistributedDataParallel: the batch of this rank has ", samples_,
      " samples, those of all ", comm_.size(), " ranks together ", samples,
      " (with Reduction::fixed_tree, all leaves have equally many), give all ranks equally many: "
      "data::DistributedSampler does");
  each([&](T* to, const T* from, std::size_t bytes) { device.copy(to, from, bytes); });
}

GPUNET_COMPILE_TEMPLATES(GPUNET_LEAF_TREE)

}  // namespace gpunet::distributed
