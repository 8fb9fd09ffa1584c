// Writes the curves of a training for TensorBoard.
#pragma once

#include <memory>
#include <string>

#include <gpunet/extras/tensorboard/summary_writer.hpp>
#include <gpunet/train/training.hpp>

namespace gpunet::train {

// Options of TensorBoard.
struct TensorBoardOptions {
  // Steps between points of Loss/step, each of which waits for the device; 0: none.
  index_t every = 0;
};

// A part of fit() that writes Loss/train, Loss/validation, Accuracy/train, Accuracy/validation and
// LearningRate once per epoch.
class TensorBoard {
 public:
  static constexpr bool never_stops = true;  // a training

  // Writes to a folder, as io::SummaryWriter does; by default a new one in runs/.
  explicit TensorBoard(std::string log_dir = "", const TensorBoardOptions& options = {});
  // Writes with the given writer, which must outlive this.
  explicit TensorBoard(io::SummaryWriter& writer, const TensorBoardOptions& options = {});

  void on_step_end(Training& run);
  void on_epoch_end(Training& run);

 private:
  std::unique_ptr<io::SummaryWriter> own_;
  io::SummaryWriter& writer_;
  TensorBoardOptions options_;
};

}  // namespace gpunet::train

#if !GPUNET_COMPILED
#include <gpunet/extras/tensorboard/tensorboard_callback.ipp>
#endif
