// Checkpoints: the state of several objects in one file, from which a training resumes after a
// restart.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/core/state.hpp>

namespace gpunet::io {

// Options of a Checkpoint.
struct CheckpointOptions {
  // The number of files that are kept, 1 to 1000: the newest is PATH, the one before PATH.1, the
  // oldest PATH.(keep_last - 1).
  int keep_last = 1;
};

namespace detail {

// A tensor that owns its elements.
template <class X>
concept OwningTensor = !Stateful<X> && requires(X & x) {
  x.data(), x.sizes(), x.device();
}
&&!requires(X & x) {
  x.strides();
};

}  // namespace detail

// The state of a training, in one safetensors file with a checksum for each array. The same list of
// objects, which must outlive it, writes and reads it, so that a program that was stopped goes on
// with bitwise the same results:
//   index_t epoch = 0;
//   io::Checkpoint checkpoint("run.safetensors");
//   checkpoint.add("model", net).add("optimizer", optimizer);
//   checkpoint.add("scheduler", scheduler).add("epoch", epoch);
//   checkpoint.load();  // false if there is no file yet
//   for (; epoch < 100;) {
//     ... train for an epoch ...
//     ++epoch;
//     checkpoint.save();
//   }
// If the batches of a loader are added, it may also be saved in a loop over them: after load(), the
// next loop continues with the batch after that one. The default generator, which draws the order
// of batches, is always part of it. Between save() and load(), names, shapes and types must stay;
// the device and its number of threads may change.
class Checkpoint {
 public:
  // Throws Error for a name that does not end in .safetensors, the only format with checksums (or,
  // for an earlier file, in .safetensors.1), and for invalid options.
  explicit Checkpoint(std::string path, const CheckpointOptions& options = {});

  // Adds an object, or a number, under a name. Throws Error for an empty name and for the name of
  // another object.
  template <Stateful X>
  Checkpoint& add(std::string_view name, X& x) {
    return add_visit(name,
                     [&x, name = std::string(name)](StateVisitor& state) { state.part(name, x); });
  }
  template <class X>
  requires std::same_as<X, index_t> || std::same_as<X, double> || std::same_as<X, bool> Checkpoint&
  add(std::string_view name, X& x) {
    return add_visit(name,
                     [&x, name = std::string(name)](StateVisitor& state) { state.value(name, x); });
  }

  // Adds a tensor of any element type. Its shape must stay.
  template <detail::OwningTensor X>
  Checkpoint& add(std::string_view name, X& x) {
    return add_visit(name, [&x, name = std::string(name)](StateVisitor& state) {
      state.array(name, x.sizes(), x.device(), x.data());
    });
  }
  // Adds a string of any length.
  Checkpoint& add(std::string_view name, std::string& x);
  // Adds any number of strings, such as the names of classes.
  Checkpoint& add(std::string_view name, std::vector<std::string>& x);

  // Writes the file. The old one is replaced when the new one is on the disk. Throws Error if that
  // fails.
  void save() const;

  // Reads the file; returns false if there is none. Throws an Error that names a missing,
  // superfluous or damaged array, or one of another shape; all objects are then unchanged. An
  // earlier file is never read instead: rename it to go on from there.
  bool load() const;

  const std::string& path() const { return path_; }

 private:
  using Visit = std::function<void(StateVisitor& state)>;

  Checkpoint& add_visit(std::string_view name, Visit visit);

  std::string path_;
  CheckpointOptions options_;
  std::vector<std::pair<std::string, Visit>> objects_;
};

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/checkpoint.ipp>
#endif
