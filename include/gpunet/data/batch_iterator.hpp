// The iterator of a loop over batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <gpunet/core/error.hpp>

namespace gpunet::data {

// The position of a loop over Source, which is a friend. Of the source it uses fetch(b), which
// fetches batch b if there is one, current_ (the index of the fetched batch), batch_, size_ (the
// number of batches) and loops_ (the number of loops begun), and running_ (whether the newest loop
// has not been left). Only the newest loop may use the batches; another one gets an Error, as does
// access after the last batch.
template <class Source>
class BatchIterator {
 public:
  using value_type = typename Source::value_type;
  using difference_type = std::ptrdiff_t;

  BatchIterator() = default;
  explicit BatchIterator(Source& source) : source_(&source), loop_(source.loops_) {
    source.running_ = true;
  }
  BatchIterator(BatchIterator&& other) noexcept
      : source_(std::exchange(other.source_, nullptr)), loop_(other.loop_) {}
  BatchIterator& operator=(BatchIterator&& other) noexcept {
    std::swap(source_, other.source_);
    std::swap(loop_, other.loop_);
    return *this;
  }
  ~BatchIterator() {
    if (source_ && loop_ == source_->loops_) source_->running_ = false;
  }
  value_type operator*() const {
    require_batch();
    return source_->batch_;
  }
  BatchIterator& operator++() {
    require_batch();
    source_->fetch(source_->current_ + 1);
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const {
    require(loop_ == source_->loops_,
            "gpunet::data::DataLoader: another loop over the same batches has begun (they serve "
            "one at a time), give each loop batches of its own: loader.to(device)");
    return source_->current_ == source_->size_;
  }

 private:
  void require_batch() const {
    require(*this != std::default_sentinel,
            "gpunet::data::DataLoader: there is no batch after the last one (an epoch has ",
            source_->size_, "), compare the iterator with end() first");
  }

  Source* source_ = nullptr;
  std::uint64_t loop_ = 0;
};

// The compile error of begin() on temporary batches.
template <class Iterator>
Iterator refuse_temporary_batches() {
  static_assert(
      sizeof(Iterator) == 0,
      "gpunet::data::DataLoader: the batches are a temporary (a batch would outlive its memory), "
      "keep them in a variable: auto batches = loader.to(device);");
  return {};
}

}  // namespace gpunet::data
