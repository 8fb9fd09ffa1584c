#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

#include "io/temp_folder.hpp"
#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("a saved model is loaded bit for bit", D, GPUNET_TEST_DEVICES) {
  const TempFolder folder;
  D& device = test_device<D>();
  manual_seed(3);
  Model<SmallNet, D> saved(device), loaded(device);
  io::save(saved, folder / "net.safetensors");
  CHECK(folder.count() == 1);

  const auto file = io::SafetensorsFile::read(folder / "net.safetensors");
  const auto sizes_of = [&](std::string_view name) {
    for (const auto& entry : file.entries())
      if (entry.name == name) return to_string(entry.sizes);
    return std::string("missing");
  };
  CHECK(file.entries().size() == 6);
  CHECK(sizes_of("conv.weight") == "[3, 2, 3, 3]");
  CHECK(sizes_of("conv.bias") == "[3]");
  CHECK(sizes_of("4.weight") == "[5, 27]");  // without a name, the layer's position as in torch.nn.Sequential
  CHECK(sizes_of("out.bias") == "[4]");

  const auto values = [&](const Model<SmallNet, D>& model) {
    std::vector<float> all(static_cast<std::size_t>(model.parameters().numel()));
    device.download(all.data(), model.parameters().data(), all.size() * sizeof(float));
    return all;
  };
  CHECK(values(saved) != values(loaded));
  io::load(loaded, folder / "net.safetensors");
  CHECK(values(saved) == values(loaded));
}

TEST_CASE("a file of another network changes nothing, and the error names every key") {
  const TempFolder folder;
  Host host;
  Model<nn::Sequential<nn::Input<4>, nn::Named<"a", nn::Linear<3>>, nn::Named<"b", nn::Linear<2>>>, Host> first(
      host);
  Model<nn::Sequential<nn::Input<4>, nn::Named<"a", nn::Linear<5>>, nn::Named<"c", nn::Linear<2>>>, Host> second(
      host);
  io::save(first, folder / "net.safetensors");
  const std::vector<float> before(second.parameters().data(),
                                  second.parameters().data() + second.parameters().numel());
  const std::string error = error_of([&] { io::load(second, folder / "net.safetensors"); });
  for (const char* part : {"net.safetensors does not fit this network", "missing keys: c.weight, c.bias",
                           "unexpected keys:", "b.weight", "b.bias",
                           "size mismatch for a.weight: [3, 4] in the file, [5, 4] in the network",
                           "size mismatch for a.bias: [3] in the file, [5] in the network"}) {
    CAPTURE(part);
    CHECK(error.find(part) != std::string::npos);
  }
  CHECK(before ==
        std::vector<float>(second.parameters().data(), second.parameters().data() + second.parameters().numel()));
  CHECK(error_of([&] { io::load(first, folder / "none.safetensors"); }).find("none.safetensors") !=
        std::string::npos);
}

TEST_CASE_TEMPLATE("a model with BatchNorm keeps its running statistics and its count in a file", D,
                   GPUNET_TEST_DEVICES) {
  using Net = nn::Sequential<nn::Input<2, 4, 4>, nn::Conv2d<3, 3>, nn::Named<"norm", nn::BatchNorm2d>, nn::Flatten,
                             nn::Linear<2>, nn::BatchNorm1d>;
  const TempFolder folder;
  D& device = test_device<D>();
  Generator generator(4);
  const Tensor<float, D> x(device, {5, 2, 4, 4}, random_values<float>(160, generator));
  Model<Net, D> saved(device);
  for (int i = 0; i < 3; ++i)
    saved(x);
  saved.eval();
  const std::vector<float> expected = saved(x).tensor().to_vector();
  for (const char* name : {"net.safetensors", "net.pth", "net.npz"}) {
    CAPTURE(name);
    io::save(saved, folder / name);
    Model<Net, D> loaded(device);
    loaded.eval();
    CHECK(loaded(x).tensor().to_vector() != expected);
    io::load(loaded, folder / name);
    CHECK(loaded(x).tensor().to_vector() == expected);
    index_t batches = 0;
    device.download(&batches, loaded.buffers().data() + loaded.named_buffers()[2].offset, sizeof batches);
    CHECK(batches == 3);
  }
  const auto file = io::read_tensors(folder / "net.pth");
  std::string keys;  // in the order of PyTorch
  for (const io::TensorEntry& entry : file.entries())
    keys += entry.name + to_string(entry.sizes) + " ";
  CHECK(keys ==
        "0.weight[3, 2, 3, 3] 0.bias[3] norm.weight[3] norm.bias[3] norm.running_mean[3] norm.running_var[3] "
        "norm.num_batches_tracked[] 3.weight[2, 12] 3.bias[2] 4.weight[2] 4.bias[2] 4.running_mean[2] "
        "4.running_var[2] 4.num_batches_tracked[] ");
}
