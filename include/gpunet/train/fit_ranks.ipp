// Bodies of fit_ranks.hpp.
#pragma once

#include <algorithm>
#include <charconv>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/train/fit_ranks.hpp>

namespace gpunet::train::detail {

// Appends the single numbers of a state as lines; arrays follow from them.
class NumberLines final : public StateVisitor {
 public:
  explicit NumberLines(std::string& text) : text_(text) {}

 private:
  template <class T>
  void append(const std::string& name, const Sizes& sizes, std::span<T> x) {
    if (sizes.rank() == 0) text_ += concat(name, " ", x[0], "\n");
  }
  void visit(const std::string& name, const Sizes& sizes, std::span<float> x) override {
    append(name, sizes, x);
  }
  void visit(const std::string& name, const Sizes& sizes, std::span<double> x) override {
    append(name, sizes, x);
  }
  void visit(const std::string& name, const Sizes& sizes, std::span<index_t> x) override {
    append(name, sizes, x);
  }
  void visit(const std::string&, const Sizes&, std::span<std::uint8_t>) override {}
  index_t written_number(const std::string&) override { return 0; }
  void check_option(const std::string&, double) override {}
  bool was_written(const std::string&) const override { return true; }
  bool wants_arrays() const override { return false; }

  std::string& text_;
};

GPUNET_INLINE void RankLines::visit(const char* name,
                                    void (*part)(StateVisitor&, const char*, void*), void* object) {
  NumberLines lines(text_);
  part(lines, name, object);
}

GPUNET_INLINE void FitRanks::require_same(const RankLines& lines, index_t part,
                                          index_t parts) const {
  constexpr std::string_view where = "gpunet::train::fit: ";
  const std::vector<std::string> texts = ranks_->all_gather(lines.text());
  if (const auto difference = gpunet::detail::first_difference(texts))
    throw_error(Error(concat(
        where, "rank ", difference->text, " has ", difference->line, " where rank 0 has ",
        difference->of_first,
        " (all ranks must train alike), give all ranks the same options, parts, optimizer and "
        "loader; a part of rank 0 alone asks run.is_main")));
  if (parts == 0) return;
  const std::vector<std::string> of_ranks = ranks_->all_gather(std::to_string(part));
  require(parts == std::ssize(of_ranks), where, std::ssize(of_ranks),
          " ranks train, and their DistributedSampler is for ", parts,
          " (each sample would not be read once), give it {.num_replicas = comm.size(), .rank = "
          "comm.rank()}");
  for (std::size_t r = 1; r < of_ranks.size(); ++r)
    for (std::size_t other = 0; other < r; ++other)
      require(of_ranks[r] != of_ranks[other], where, "ranks ", other, " and ", r,
              " have the same samples, part ", of_ranks[r], " of ", parts,
              " (others are never read), give their DistributedSampler {.rank = comm.rank()}");
}

GPUNET_INLINE void FitRanks::require_found(bool is_there, const std::string& path) const {
  if (!ranks_) return;
  double counts[] = {is_there ? 1.0 : 0.0, 1};
  ranks_->sum(counts);
  require(counts[0] == 0 || counts[0] == counts[1], "gpunet::train::fit: ", counts[0], " of ",
          counts[1], " processes have found ", path,
          " (all of them resume from the file that rank 0 writes), put it where all can read it");
}

GPUNET_INLINE void FitRanks::agree_to_stop(Training& run) {
  if (!ranks_ || have_stopped_ || ranks_->all_reduce(run.stopped() ? 1 : 0) == 0) return;
  have_stopped_ = true;
  const std::vector<std::string> texts = ranks_->all_gather(
      run.stopped() ? concat(static_cast<int>(run.history.end), " ", run.history.why) : "");
  const auto end_of = [](const std::string& text) {
    int end = 0;
    std::from_chars(text.data(), text.data() + text.size(), end);
    return static_cast<End>(end);
  };
  // Weights that are not finite are in no checkpoint, whatever else has stopped another rank.
  auto decides = std::find_if(texts.begin(), texts.end(),
                              [&](const auto& t) { return end_of(t) == End::not_finite; });
  if (decides == texts.end())
    decides = std::find_if(texts.begin(), texts.end(), [](const auto& t) { return !t.empty(); });
  const std::string why = decides->substr(decides->find(' ') + 1);
  if (run.stopped() && run.history.end == end_of(*decides)) return;
  run.history.end = end_of(*decides);
  run.history.why = concat("rank ", decides - texts.begin(), ": ", why);
}

GPUNET_INLINE std::string FitRanks::why_of_all(const std::string& why) const {
  if (!ranks_) return why;
  const std::vector<std::string> texts = ranks_->all_gather(why);
  if (!why.empty()) return why;
  for (std::size_t r = 0; r < texts.size(); ++r)
    if (!texts[r].empty()) return concat("rank ", r, ": ", texts[r]);
  return why;
}

}  // namespace gpunet::train::detail
