// What a loop over batches moves along.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include <gpunet/core/error.hpp>

namespace gpunet::data {

// Where a loop over Source is. The source shows its friend fetch(b), which takes batch b if there is one, current_,
// which one that was, batch_ itself, size_, how many there are, and loops_, how many loops have begun: the last one has
// the batches. Throws Error in any other loop, and behind the last batch.
template <class Source>
class BatchIterator {
 public:
  using value_type = typename Source::value_type;
  using difference_type = std::ptrdiff_t;

  BatchIterator() = default;
  explicit BatchIterator(Source& source) : source_(&source), loop_(source.loops_) {}
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
    require(
        loop_ == source_->loops_,
        "gpunet::data::DataLoader: another loop over the same batches has begun (they serve one at a time), give "
        "each loop batches of its own: loader.to(device)");
    return source_->current_ == source_->size_;
  }

 private:
  void require_batch() const {
    require(*this != std::default_sentinel,
            "gpunet::data::DataLoader: no batch is behind the last one (an epoch has ", source_->size_,
            "), compare the iterator with end() first");
  }

  Source* source_ = nullptr;
  std::uint64_t loop_ = 0;
};

// The compile error of begin() on a temporary source.
template <class Iterator>
Iterator refuse_temporary_batches() {
  static_assert(sizeof(Iterator) == 0,
                "gpunet::data::DataLoader: the batches are a temporary (a batch would outlive its memory), "
                "keep them in a variable: auto batches = loader.to(device);");
  return {};
}

}  // namespace gpunet::data
