// Curves, pictures and texts for TensorBoard.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/io/image.hpp>

namespace gpunet {
template <class T, class D>
class Tensor;
}

namespace gpunet::io {

// A hyperparameter: its name and a number, a text, or yes or no.
struct HParam {
  std::string name;
  std::variant<double, bool, std::string> value;

  HParam(std::string of, std::string text) : name(std::move(of)), value(std::move(text)) {}
  HParam(std::string of, const char* text) : HParam(std::move(of), std::string(text)) {}
  HParam(std::string of, bool yes) : name(std::move(of)), value(yes) {}
  // Of a number, of whatever type.
  template <class Number>
  requires std::is_arithmetic_v<Number> HParam(std::string of, Number number)
      : name(std::move(of)), value(static_cast<double>(number)) {}
};

// torch.utils.tensorboard.SummaryWriter: writes what `tensorboard --logdir runs` shows. Tags with a slash are grouped
// by what is before it. Each value is with the system when the call returns, so that a crash loses at most the one being
// written; threads may share a writer. Every function throws Error naming the file where it cannot be written.
class SummaryWriter {
 public:
  // Writes into the folder, made where there is none; by default a new one for this run: runs/DATE_TIME_HOST + comment.
  explicit SummaryWriter(std::string log_dir = "", std::string_view comment = "");
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;
  ~SummaryWriter();

  // The folder that it writes into.
  const std::string& log_dir() const;

  // A point of the curve `tag`.
  void add_scalar(std::string_view tag, double value, std::int64_t global_step = 0);
  // The same with the time at which it was seen, in seconds since 1970.
  void add_scalar(std::string_view tag, double value, std::int64_t global_step, double walltime);

  // Points of several curves in one diagram: of each name its own run, in a folder beside, as PyTorch has it.
  void add_scalars(const std::string& main_tag, const std::vector<std::pair<std::string, double>>& tag_scalar_dict,
                   std::int64_t global_step = 0);

  // How numbers are distributed, such as the weights of a layer; those that are not finite are left out.
  void add_histogram(std::string_view tag, const std::vector<double>& values, std::int64_t global_step = 0);
  template <class T>
  void add_histogram(std::string_view tag, const std::vector<T>& values, std::int64_t global_step = 0) {
    add_histogram(tag, std::vector<double>(values.begin(), values.end()), global_step);
  }
  template <class T, class D>
  void add_histogram(std::string_view tag, const Tensor<T, D>& values, std::int64_t global_step = 0) {
    add_histogram(tag, values.to_vector(), global_step);
  }

  // A picture; a tensor is [channels, height, width] or [height, width], numbers from 0 to 1 or bytes.
  void add_image(std::string_view tag, const Image& image, std::int64_t global_step = 0);
  template <class T, class D>
  void add_image(std::string_view tag, const Tensor<T, D>& image, std::int64_t global_step = 0) {
    add_image(tag, to_image(image.to_vector(), image.sizes()), global_step);
  }

  // A text, which may be Markdown.
  void add_text(std::string_view tag, std::string_view text, std::int64_t global_step = 0);

  // What this run was made with and what came out of it, for the table of all runs. Of a run of its own in a folder
  // below this one, named by the time unless `run_name` says otherwise.
  void add_hparams(const std::vector<HParam>& hparam_dict,
                   const std::vector<std::pair<std::string, double>>& metric_dict, std::string run_name = "");

  // Waits until all of it is on the disk.
  void flush();

 private:
  struct Files;
  std::unique_ptr<Files> files_;
};

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/tensorboard/summary_writer.ipp>
#endif
