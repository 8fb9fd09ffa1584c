// Curves, pictures and texts for TensorBoard.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/io/event_file.hpp>
#include <gpunet/io/summary.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::io {

// torch.utils.tensorboard.SummaryWriter: writes what `tensorboard --logdir runs` shows. Tags with a slash are grouped
// by what is before it. Each value is with the system when the call returns, so that a crash loses at most the one being
// written; threads may share a writer. Every function throws Error naming the file where it cannot be written.
class SummaryWriter {
 public:
  // Writes into the folder, made where there is none; by default a new one for this run: runs/DATE_TIME_HOST + comment.
  explicit SummaryWriter(std::string log_dir = "", std::string_view comment = "")
      : log_dir_(log_dir.empty() ? concat("runs/", time_text(), "_", detail::host_name(), comment)
                                 : std::move(log_dir)),
        file_(log_dir_) {}

  const std::string& log_dir() const { return log_dir_; }

  // A point of the curve `tag`.
  void add_scalar(std::string_view tag, double value, std::int64_t global_step = 0) {
    add_scalar(tag, value, global_step, detail::wall_time());
  }
  // The same with the time at which it was seen, in seconds since 1970.
  void add_scalar(std::string_view tag, double value, std::int64_t global_step, double walltime) {
    file_.write(detail::scalar_value(tag, value), global_step, walltime);
  }

  // Points of several curves in one diagram: of each name its own run, in a folder beside, as PyTorch has it.
  void add_scalars(const std::string& main_tag, const std::vector<std::pair<std::string, double>>& tag_scalar_dict,
                   std::int64_t global_step = 0) {
    for (const auto& [name, value] : tag_scalar_dict)
      run(main_tag, name).write(detail::scalar_value(main_tag, value), global_step, detail::wall_time());
  }

  // How numbers are distributed, such as the weights of a layer; those that are not finite are left out.
  template <class T>
  void add_histogram(std::string_view tag, const std::vector<T>& values, std::int64_t global_step = 0) {
    file_.write(detail::histogram_value(tag, {values.begin(), values.end()}), global_step, detail::wall_time());
  }
  template <class T, class D>
  void add_histogram(std::string_view tag, const Tensor<T, D>& values, std::int64_t global_step = 0) {
    add_histogram(tag, values.to_vector(), global_step);
  }

  // A picture; a tensor is [channels, height, width] or [height, width], numbers from 0 to 1 or bytes.
  void add_image(std::string_view tag, const Image& image, std::int64_t global_step = 0) {
    file_.write(detail::image_value(tag, image), global_step, detail::wall_time());
  }
  template <class T, class D>
  void add_image(std::string_view tag, const Tensor<T, D>& image, std::int64_t global_step = 0) {
    add_image(tag, to_image(image.to_vector(), image.sizes()), global_step);
  }

  // A text, which may be Markdown.
  void add_text(std::string_view tag, std::string_view text, std::int64_t global_step = 0) {
    file_.write(detail::text_value(tag, text), global_step, detail::wall_time());
  }

  // What this run was made with and what came out of it, for the table of all runs. Of a run of its own in a folder
  // below this one, named by the time unless `run_name` says otherwise.
  void add_hparams(const std::vector<HParam>& hparam_dict,
                   const std::vector<std::pair<std::string, double>>& metric_dict, std::string run_name = "") {
    const double now = detail::wall_time();
    if (run_name.empty()) run_name = std::to_string(now);
    detail::EventFile file(log_dir_ + "/" + run_name);
    for (const detail::ProtoMessage& value : detail::hparams_values(hparam_dict, metric_dict))
      file.write(value, 0, now);
    for (const auto& [tag, value] : metric_dict)
      file.write(detail::scalar_value(tag, value), 0, now);
  }

  // Waits until all of it is on the disk.
  void flush() {
    file_.flush();
    const std::lock_guard lock(mutex_);
    for (const auto& [folder, file] : runs_)
      file->flush();
  }

 private:
  static std::string time_text() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    std::array<char, 64> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%b%d_%H-%M-%S", &local)};
  }

  // A slash would make folders.
  detail::EventFile& run(const std::string& main_tag, const std::string& name) {
    std::string folder = main_tag + "_" + name;
    std::replace(folder.begin(), folder.end(), '/', '_');
    const std::lock_guard lock(mutex_);
    auto file = runs_.find(folder);
    if (file == runs_.end()) {  // made before it is inserted: it throws where it cannot be
      auto made = std::make_unique<detail::EventFile>(log_dir_ + "/" + folder);
      file = runs_.emplace(std::move(folder), std::move(made)).first;
    }
    return *file->second;
  }

  std::string log_dir_;
  detail::EventFile file_;
  std::map<std::string, std::unique_ptr<detail::EventFile>> runs_;  // none is null
  std::mutex mutex_;                                                // of runs_
};

}  // namespace gpunet::io
