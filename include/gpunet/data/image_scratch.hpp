// Memory for images while they are read and transformed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <gpunet/data/transforms.hpp>

namespace gpunet::data::detail {

// Buffers for one image: of its dataset, to read or decode it, and the pixels that transforms
// change, as bytes and as floats.
struct ImageScratch {
  std::vector<std::uint8_t> buffer = {};
  Pixels<std::uint8_t> bytes = {};
  Pixels<float> floats = {};
};

// The scratch memory of a dataset, one for each thread that reads it at a time. It belongs to the
// dataset and not to the threads (thread_local), so it is freed with the dataset, and a shared
// library that made it can be unloaded.
class ImageScratches {
 public:
  // One that no other thread has, until it goes out of scope.
  class Loan {
   public:
    explicit Loan(ImageScratches& lender) : lender_(lender), scratch_(lender.take()) {}
    ~Loan() { lender_.give_back(std::move(scratch_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    ImageScratch& operator*() const { return *scratch_; }

   private:
    ImageScratches& lender_;
    std::unique_ptr<ImageScratch> scratch_;
  };

  ImageScratches() = default;
  ~ImageScratches() {
    for (auto& place : free_)
      delete place.load(std::memory_order_relaxed);
  }
  ImageScratches(const ImageScratches&) = delete;
  ImageScratches& operator=(const ImageScratches&) = delete;

 private:
  std::unique_ptr<ImageScratch> take() {
    for (auto& place : free_)
      if (place.load(std::memory_order_relaxed))
        if (ImageScratch* const taken = place.exchange(nullptr, std::memory_order_acquire))
          return std::unique_ptr<ImageScratch>(taken);
    return std::make_unique<ImageScratch>();
  }
  void give_back(std::unique_ptr<ImageScratch> scratch) {
    for (auto& place : free_) {
      ImageScratch* none = nullptr;
      if (!place.load(std::memory_order_relaxed) &&
          place.compare_exchange_strong(none, scratch.get(), std::memory_order_release)) {
        static_cast<void>(scratch.release());
        return;
      }
    }
  }

  std::array<std::atomic<ImageScratch*>, 64> free_{};  // the 65th thread allocates
};

}  // namespace gpunet::data::detail
