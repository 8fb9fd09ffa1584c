// Bodies of tensorboard_callback.hpp.
#pragma once

#include <cmath>
#include <utility>

#include <gpunet/extras/tensorboard/tensorboard_callback.hpp>

namespace gpunet::train {

namespace detail {

inline const TensorBoardOptions& checked(const TensorBoardOptions& options) {
  require(options.every >= 0, "gpunet::train::TensorBoard: a point every ", options.every,
          " steps (want 0, for none, or more)");
  return options;
}

}  // namespace detail

GPUNET_INLINE TensorBoard::TensorBoard(std::string log_dir, const TensorBoardOptions& options)
    : own_(std::make_unique<io::SummaryWriter>(std::move(log_dir))),
      writer_(*own_),
      options_(detail::checked(options)) {}
GPUNET_INLINE TensorBoard::TensorBoard(io::SummaryWriter& writer, const TensorBoardOptions& options)
    : writer_(writer), options_(detail::checked(options)) {}

GPUNET_INLINE void TensorBoard::on_step_end(Training& run) {
  if (run.is_main && options_.every > 0 && run.total_steps % options_.every == 0)
    writer_.add_scalar("Loss/step", run.loss(), run.total_steps);
}

GPUNET_INLINE void TensorBoard::on_epoch_end(Training& run) {
  if (!run.is_main) return;
  const auto add = [&](const std::string& tag, double value) {
    if (!std::isnan(value)) writer_.add_scalar(tag, value, run.epoch);
  };
  add("Loss/train", run.current.loss);
  add("Loss/validation", run.current.val_loss);
  add("Accuracy/train", run.current.accuracy);
  add("Accuracy/validation", run.current.val_accuracy);
  for (const auto& [name, value] : run.current.measures)
    add(name.substr(0, 4) == "val_" ? name.substr(4) + "/validation" : name + "/train", value);
  add("LearningRate", run.current.lr);
}

}  // namespace gpunet::train
