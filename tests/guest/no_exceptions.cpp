// A program without exceptions and run-time type information. Without arguments it trains; with
// "default" an error ends in the handler of gpunet, with "own" in one of the program, on a thread
// of the loader with "worker".
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "guest/training.hpp"

using namespace gpunet;

namespace {

void end_with_7(const char* message) {
  std::printf("handled: %s\n", message);
  std::fflush(stdout);
  std::_Exit(7);
}

// Its images cannot be read.
struct NoImages final : data::ImageDataset {
  NoImages() : ImageDataset(data::Pipeline(data::ToTensor{}, {1, 2, 2})) {}
  index_t size() const override { return 8; }
  data::ImageBytes image(index_t i, std::vector<std::uint8_t>&) const override {
    require(i < 0, "NoImages: image ", i, " is damaged");
    return {};
  }
};

int train_twice() {
  Host device({.threads = 2});
  const auto numbers = guest::train(device, 1);
  std::printf("loss %.4f, then %.4f\n", static_cast<double>(numbers[0]),
              static_cast<double>(numbers[15]));
  return std::isfinite(numbers[15]) && numbers == guest::train(device, 0) ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view mode = count > 1 ? arguments[1] : "";
  if (mode.empty()) return train_twice();
  if (mode != "default" && set_error_handler(end_with_7) != nullptr) return 2;
  Host device({.threads = mode == "worker" ? 1 : -1});
  const NoImages set;
  data::DataLoader loader(set, {.batch_size = 4, .num_workers = 1});
  for (auto [inputs, labels] : loader.to(device))
    std::printf("%d images\n", static_cast<int>(inputs.size(0)));
  return 3;  // not reached
}
