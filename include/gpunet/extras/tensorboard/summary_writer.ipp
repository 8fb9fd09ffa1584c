// Bodies of summary_writer.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <map>
#include <mutex>

#include <gpunet/core/error.hpp>
#include <gpunet/extras/tensorboard/event_file.hpp>
#include <gpunet/extras/tensorboard/summary_writer.hpp>

namespace gpunet::io {

namespace detail {

// Returns the three values that define a run for the hparams plugin: the names of its
// hyperparameters and metrics, the values of the hyperparameters, the successful end.
GPUNET_INLINE std::vector<ProtoMessage> hparams_values(
    const std::vector<HParam>& hparams,
    const std::vector<std::pair<std::string, double>>& metrics) {
  ProtoMessage experiment, start, end;
  for (const HParam& hparam : hparams) {
    ProtoMessage value;  // google.protobuf.Value
    std::uint64_t type = 3;
    if (const auto* text = std::get_if<std::string>(&hparam.value)) {
      value.bytes(3, *text);
      type = 1;
    } else if (const auto* yes = std::get_if<bool>(&hparam.value)) {
      value.integer(4, *yes);
      type = 2;
    } else {
      value.number(2, std::get<double>(hparam.value));
    }
    experiment.message(4, ProtoMessage().bytes(1, hparam.name).integer(4, type));
    start.message(1, ProtoMessage().bytes(1, hparam.name).message(2, value));
  }
  for (const auto& [tag, value] : metrics)
    experiment.message(5, ProtoMessage().message(1, ProtoMessage().bytes(2, tag)));
  constexpr std::uint64_t success = 1;
  end.integer(1, success);
  const auto value = [](std::string_view tag, int field, const ProtoMessage& message) {
    return tagged(tag).message(9,
                               plugin("hparams", ProtoMessage().message(field, message).bytes()));
  };
  return {value("_hparams_/experiment", 2, experiment),
          value("_hparams_/session_start_info", 3, start),
          value("_hparams_/session_end_info", 4, end)};
}

GPUNET_INLINE std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%b%d_%H-%M-%S", &local)};
}

}  // namespace detail

// The file of a writer, and those of its runs in folders below.
struct SummaryWriter::Files {
  explicit Files(std::string folder) : log_dir(std::move(folder)), file(log_dir) {}

  // Returns the file of one curve of add_scalars(). Slashes are replaced: they would create
  // folders.
  detail::EventFile& run(const std::string& main_tag, const std::string& name) {
    std::string folder = main_tag + "_" + name;
    std::replace(folder.begin(), folder.end(), '/', '_');
    const std::lock_guard lock(mutex);
    auto found = runs.find(folder);
    if (found == runs.end()) {  // made before it is inserted: the constructor may throw
      auto made = std::make_unique<detail::EventFile>(log_dir + "/" + folder);
      found = runs.emplace(std::move(folder), std::move(made)).first;
    }
    return *found->second;
  }

  std::string log_dir;
  detail::EventFile file;
  std::map<std::string, std::unique_ptr<detail::EventFile>> runs;  // none is null
  std::mutex mutex;                                                // of runs
};

GPUNET_INLINE SummaryWriter::SummaryWriter(std::string log_dir, std::string_view comment)
    : files_(std::make_unique<Files>(
          log_dir.empty() ? concat("runs/", detail::time_text(), "_", detail::host_name(), comment)
                          : std::move(log_dir))) {}
GPUNET_INLINE SummaryWriter::~SummaryWriter() = default;

GPUNET_INLINE const std::string& SummaryWriter::log_dir() const {
  return files_->log_dir;
}

GPUNET_INLINE void SummaryWriter::add_scalar(std::string_view tag, double value,
                                             std::int64_t global_step) {
  add_scalar(tag, value, global_step, detail::wall_time());
}

GPUNET_INLINE void SummaryWriter::add_scalar(std::string_view tag, double value,
                                             std::int64_t global_step, double walltime) {
  files_->file.write(detail::scalar_value(tag, value), global_step, walltime);
}

GPUNET_INLINE void SummaryWriter::add_scalars(
    const std::string& main_tag, const std::vector<std::pair<std::string, double>>& tag_scalar_dict,
    std::int64_t global_step) {
  for (const auto& [name, value] : tag_scalar_dict)
    files_->run(main_tag, name)
        .write(detail::scalar_value(main_tag, value), global_step, detail::wall_time());
}

GPUNET_INLINE void SummaryWriter::add_histogram(std::string_view tag,
                                                const std::vector<double>& values,
                                                std::int64_t global_step) {
  files_->file.write(detail::histogram_value(tag, values), global_step, detail::wall_time());
}

GPUNET_INLINE void SummaryWriter::add_image(std::string_view tag, const Image& image,
                                            std::int64_t global_step) {
  files_->file.write(detail::image_value(tag, image), global_step, detail::wall_time());
}

GPUNET_INLINE void SummaryWriter::add_text(std::string_view tag, std::string_view text,
                                           std::int64_t global_step) {
  files_->file.write(detail::text_value(tag, text), global_step, detail::wall_time());
}

GPUNET_INLINE void SummaryWriter::add_hparams(
    const std::vector<HParam>& hparam_dict,
    const std::vector<std::pair<std::string, double>>& metric_dict, std::string run_name) {
  const double now = detail::wall_time();
  if (run_name.empty()) run_name = std::to_string(now);
  detail::EventFile file(files_->log_dir + "/" + run_name);
  for (const detail::ProtoMessage& value : detail::hparams_values(hparam_dict, metric_dict))
    file.write(value, 0, now);
  for (const auto& [tag, value] : metric_dict)
    file.write(detail::scalar_value(tag, value), 0, now);
}

GPUNET_INLINE void SummaryWriter::flush() {
  files_->file.flush();
  const std::lock_guard lock(files_->mutex);
  for (const auto& [folder, file] : files_->runs)
    file->flush();
}

}  // namespace gpunet::io
