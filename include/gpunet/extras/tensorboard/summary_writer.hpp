// Logs for TensorBoard: scalars, histograms, images and texts.
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

// A hyperparameter: a name and a number, a text or a bool.
struct HParam {
  std::string name;
  std::variant<double, bool, std::string> value;

  HParam(std::string of, std::string text) : name(std::move(of)), value(std::move(text)) {}
  HParam(std::string of, const char* text) : HParam(std::move(of), std::string(text)) {}
  HParam(std::string of, bool yes) : name(std::move(of)), value(yes) {}
  // Takes a number of any type.
  template <class Number>
  requires std::is_arithmetic_v<Number> HParam(std::string of, Number number)
      : name(std::move(of)), value(static_cast<double>(number)) {}
};

// Writes the files that `tensorboard --logdir runs` shows, as
// torch.utils.tensorboard.SummaryWriter. Tags are grouped by the part before a slash. Each value is
// passed to the system before the call returns, so that a crash loses at most the one being
// written. Threads may share a writer. Every function throws Error naming the file if it cannot be
// written.
class SummaryWriter {
 public:
  // Writes into the folder, which is created if needed. By default it is a new one for this run:
  // runs/DATE_TIME_HOST + comment.
  explicit SummaryWriter(std::string log_dir = "", std::string_view comment = "");
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;
  ~SummaryWriter();

  // Returns the folder that it writes into.
  const std::string& log_dir() const;

  // Writes a point of the curve `tag`.
  void add_scalar(std::string_view tag, double value, std::int64_t global_step = 0);
  // Writes a point with its time, in seconds since 1970.
  void add_scalar(std::string_view tag, double value, std::int64_t global_step, double walltime);

  // Writes points of several curves in one chart. As in PyTorch, each name is a run of its own, in
  // a folder beside this one.
  void add_scalars(const std::string& main_tag,
                   const std::vector<std::pair<std::string, double>>& tag_scalar_dict,
                   std::int64_t global_step = 0);

  // Writes a histogram, such as of the weights of a layer. Values that are not finite are omitted.
  // Throws Error if none is finite.
  void add_histogram(std::string_view tag, const std::vector<double>& values,
                     std::int64_t global_step = 0);
  template <class T>
  void add_histogram(std::string_view tag, const std::vector<T>& values,
                     std::int64_t global_step = 0) {
    add_histogram(tag, std::vector<double>(values.begin(), values.end()), global_step);
  }
  template <class T, class D>
  void add_histogram(std::string_view tag, const Tensor<T, D>& values,
                     std::int64_t global_step = 0) {
    add_histogram(tag, values.to_vector(), global_step);
  }

  // Writes an image. A tensor is [channels, height, width] or [height, width], with numbers from 0
  // to 1 or bytes.
  void add_image(std::string_view tag, const Image& image, std::int64_t global_step = 0);
  template <class T, class D>
  void add_image(std::string_view tag, const Tensor<T, D>& image, std::int64_t global_step = 0) {
    add_image(tag, to_image(image.to_vector(), image.sizes()), global_step);
  }

  // Writes a text, which may be Markdown.
  void add_text(std::string_view tag, std::string_view text, std::int64_t global_step = 0);

  // Writes the hyperparameters and the results of a run, for the table of all runs. The run is in a
  // folder below this one, named `run_name`, or by the time if that is empty.
  void add_hparams(const std::vector<HParam>& hparam_dict,
                   const std::vector<std::pair<std::string, double>>& metric_dict,
                   std::string run_name = "");

  // Waits until everything is on the disk.
  void flush();

 private:
  struct Files;
  std::unique_ptr<Files> files_;
};

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/extras/tensorboard/summary_writer.ipp>
#endif
