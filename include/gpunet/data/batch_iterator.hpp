// What a loop over batches moves along.
#pragma once

#include <cstddef>
#include <iterator>

namespace gpunet::data {

// Where a loop over Source is. The source shows its friend fetch(b), which takes batch b if there is one, current_, which
// one that was, batch_ itself, and size_, how many there are.
template <class Source>
class BatchIterator {
 public:
  using value_type = typename Source::value_type;
  using difference_type = std::ptrdiff_t;

  BatchIterator() = default;
  explicit BatchIterator(Source& source) : source_(&source) {}
  value_type operator*() const { return source_->batch_; }
  BatchIterator& operator++() {
    source_->fetch(source_->current_ + 1);
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return source_->current_ == source_->size_; }

 private:
  Source* source_ = nullptr;
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
