// What fit() has to do so that several processes train together.
#pragma once

#include <string>

#include <gpunet/core/config.hpp>
#include <gpunet/core/state.hpp>
#include <gpunet/model/gradient_reducer.hpp>
#include <gpunet/train/training.hpp>

namespace gpunet::train::detail {

// What has to be the same on all ranks, a line each.
class RankLines {
 public:
  template <class... Texts>
  void add(const Texts&... texts) {
    text_ += concat(texts..., "\n");
  }
  // Adds the numbers that an object visits, such as the options of an optimizer.
  template <class Object>
  void add_numbers(const char* name, Object& object) {
    visit(
        name,
        [](StateVisitor& state, const char* of, void* at) {
          state.part(of, *static_cast<Object*>(at));
        },
        &object);
  }
  const std::string& text() const { return text_; }

 private:
  void visit(const char* name, void (*part)(StateVisitor&, const char*, void*), void* object);

  std::string text_;
};

// The ranks of a network, or this process alone.
class FitRanks {
 public:
  // `ranks`: null if this process trains alone.
  explicit FitRanks(Ranks* ranks) : ranks_(ranks) {}

  explicit operator bool() const { return ranks_; }
  Ranks& operator*() const { return *ranks_; }
  Ranks* operator->() const { return ranks_; }
  bool is_main() const { return !ranks_ || ranks_->is_main(); }

  // With ranks only: throws Error on all of them unless all have the same lines, and each its own
  // part of `parts` of the samples (0: not known).
  void require_same(const RankLines& lines, index_t part, index_t parts) const;
  // Throws Error on all ranks if some have found a file, and others not.
  void require_found(bool is_there, const std::string& path) const;
  // A part of one rank may stop the training: then all stop, for one reason.
  void agree_to_stop(Training& run);
  // Returns `why`, or if it is empty that of the first rank that has one.
  std::string why_of_all(const std::string& why) const;

 private:
  Ranks* ranks_;
  bool have_stopped_ = false;  // all of them
};

}  // namespace gpunet::train::detail

#if !GPUNET_COMPILED
#include <gpunet/train/fit_ranks.ipp>
#endif
