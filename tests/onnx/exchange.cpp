// ONNX files for check_onnx.py, which compares them with ONNX Runtime and PyTorch:
//   exchange write FOLDER: writes networks N.onnx with inputs N.in and outputs N.out, batches of 3
//   exchange run MODEL INPUTS BATCH OUTPUTS: reads a network, writes its outputs
//   exchange train MODEL INPUTS BATCH OUTPUTS STEPS TRAINED: the same after steps of SGD (0.01) on
//     the mean of the squares of its outputs, whose losses it prints; writes the network TRAINED
//   exchange operators: prints the operators that gpunet reads
// Numbers in files are floats one after another.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/onnx.hpp>

using namespace gpunet;
using nn::Value;

namespace {

std::vector<float> read_numbers(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
  return numbers;
}

void write_numbers(const std::string& path, const std::vector<float>& numbers) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(numbers.size() * sizeof(float)));
}

// Writes the network of `f` for inputs of these sizes, with inputs from -1 to 1 and outputs.
void write_network(const std::string& folder, const Sizes& sizes,
                   const std::function<Value(const Value&)>& f, index_t opset) {
  static int count = 0;
  const std::string name = folder + "/" + std::to_string(count++);
  Host host;
  Network net(host, f, sizes);
  const Sizes all = sizes.with_front(3);
  std::vector<float> numbers(static_cast<std::size_t>(all.numel()));
  std::uint32_t state = 1;
  for (float& number : numbers) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<float>(state >> 8) / (1 << 23) - 1;
  }
  const Tensor<float, Host> x(host, all, numbers);
  static_cast<void>(net(x).to_vector());  // statistics of a batch
  net.eval();
  write_numbers(name + ".in", numbers);
  write_numbers(name + ".out", net(x).to_vector());
  onnx::write(net, name + ".onnx", {.opset = opset});
}

void write_all(const std::string& folder) {
  using Function = std::function<Value(const Value&)>;
  const auto elements = [](const Value& x) {
    return std::vector<Value>{relu(x),
                              relu6(9 * x),
                              hardtanh(x, -0.5, 0.25),
                              leaky_relu(x, 0.3),
                              elu(x, 0.7),
                              selu(x),
                              tanh(x),
                              sigmoid(x),
                              hardswish(4 * x),
                              hardsigmoid(4 * x),
                              softplus(x),
                              softplus(x, 3),
                              softsign(x),
                              exp(x),
                              erf(x),
                              sin(x),
                              cos(x),
                              sqrt(abs(x)),
                              log(square(x) + 0.5),
                              pow(abs(x), 1.5),
                              reciprocal(x + 3),
                              2 / (x + 3),
                              clamp(x, 0.1, std::numeric_limits<double>::infinity()),
                              floor(9 * x) + ceil(9 * x),
                              round(9 * x),
                              sign(x),
                              gelu(x),
                              gelu(x, nn::Approximate::tanh),
                              silu(x),
                              mish(x),
                              logsigmoid(x),
                              maximum(x, -x) - minimum(x, x * x),
                              softmax(x, 1),
                              log_softmax(x, -1)};
  };
  struct Case {
    Sizes sizes;
    Function function;
  };
  std::vector<Case> cases;
  // One network for each function.
  for (std::size_t i = 0; i < 34; ++i)
    cases.push_back({{4, 6}, [=](const Value& x) {
                       return elements(x).at(i);
                     }});
  const Function layers[] = {
      [](const Value& x) { return conv2d(x, 6, 3, {.stride = 2, .padding = 1}); },
      [](const Value& x) {
        return conv2d(x, 8, 3, {.padding = 2, .dilation = 2, .groups = 4, .bias = false});
      },
      [](const Value& x) {
        return nn::apply<3>(nn::Conv2d<5, 3, nn::KernelWidth<2>, nn::Padding<0, 1>>{}, x);
      },
      [](const Value& x) { return nn::apply<3>(nn::Conv2d<5, 4, nn::PaddingSame>{}, x); },
      [](const Value& x) {
        return nn::apply<3>(
            nn::ConvTranspose2d<6, 3, nn::Stride<2>, nn::OutputPadding<1, 0>, nn::Groups<2>>{}, x);
      },
      [](const Value& x) { return max_pool2d(x, 3, {.stride = 2, .padding = 1}); },
      [](const Value& x) { return max_pool2d(x, 3, {.stride = 2, .ceil_mode = true}); },
      [](const Value& x) { return max_pool2d(x, 2, {.stride = 3, .ceil_mode = true}); },
      [](const Value& x) { return avg_pool2d(x, 3, {.stride = 2, .padding = 1}); },
      [](const Value& x) { return adaptive_avg_pool2d(x, 1, 1); },
      [](const Value& x) { return adaptive_avg_pool2d(x, 3, 2); },
      [](const Value& x) { return batch_norm(x); },
      [](const Value& x) { return group_norm(x, 2); },
      [](const Value& x) { return group_norm(x, 4); },
      [](const Value& x) { return layer_norm(x); },
      [](const Value& x) { return linear(x, 5); },
      [](const Value& x) { return linear(relu(linear(flatten(x), 7)), 3, {.bias = false}); },
      [](const Value& x) {
        return permute(x, {0, 3, 1, 2});
      },
      [](const Value& x) {
        return reshape(x, {8, -1});
      },
      [](const Value& x) {
        return nn::cat({x, 2 * x, narrow(x, 2, 1, 3)}, 2);
      },
      [](const Value& x) {
        return sum(x, {1, 3}, true) - mean(x, 2, true);
      },
      [](const Value& x) {
        return x * nn::parameter(x, nn::uniform("gain", {4, 1, 1}, 1));
      },
      [](const Value& x) { return nn::apply<3>(nn::ZeroPad2d<1, 2, 3, 0>{}, x); },
      [](const Value& x) { return nn::apply<3>(nn::PixelShuffle<2>{}, x); },
      [](const Value& x) { return nn::apply<3>(nn::Upsample<3>{}, x); },
      [](const Value& x) { return nn::apply<3>(nn::PReLU<4>{}, x); },
      [](const Value& x) { return mean(embedding(floor(abs(4 * x)), 5, 3), -1); },
  };
  for (const Function& function : layers)
    cases.push_back({{4, 9, 8}, function});
  cases.push_back({{4, 9}, [](const Value& x) {
                     return nn::apply<2>(nn::Conv1d<6, 3, nn::Stride<2>, nn::Padding<1>>{}, x);
                   }});
  cases.push_back({{4, 9}, [](const Value& x) {
                     return nn::apply<2>(nn::MaxPool1d<2>{}, nn::apply<2>(nn::BatchNorm1d{}, x));
                   }});
  const Function sequences[] = {
      [](const Value& x) { return lstm(x, 5).output; },
      [](const Value& x) { return lstm(x, 3, {.num_layers = 3, .bidirectional = true}).c_n; },
      [](const Value& x) {
        const auto [y, h, c] = lstm(x, 5, {.num_layers = 2, .bias = false});
        return lstm(y, 5, {.num_layers = 2, .h_0 = h, .c_0 = c}).output;
      },
      [](const Value& x) { return gru(x, 5, {.num_layers = 2, .bidirectional = true}).output; },
      [](const Value& x) { return gru(x, 5, {.bias = false, .h_0 = gru(x, 5).h_n}).h_n; },
      [](const Value& x) { return rnn(x, 5, {.bidirectional = true}).output; },
      [](const Value& x) { return rnn(x, 5, {.nonlinearity = "relu"}).h_n; },
      [](const Value& x) {
        return nn::apply<2>(nn::LSTM<4, nn::LastState, nn::NumLayers<2>>(), x);
      },
      [](const Value& x) { return nn::apply<2>(nn::LastStep(), nn::apply<2>(nn::GRU<4>(), x)); },
  };
  for (const Function& function : sequences)
    cases.push_back({{7, 3}, function});
  for (const index_t opset : {17, 18, 20, 22})
    for (const Case& c : cases)
      write_network(folder, c.sizes, c.function, opset);
}

void run(char** arguments, bool trains) {
  Host host;
  Network net(host, onnx::read(arguments[0]));
  const std::vector<float> numbers = read_numbers(arguments[1]);
  const index_t batch = std::atoi(arguments[2]);
  const Sizes sizes = net.graph().values[0].with_front(batch);
  const Tensor<float, Host> x(host, sizes,
                              std::vector<float>(numbers.begin(), numbers.begin() + sizes.numel()));
  if (trains) {
    const Sizes out = net.output_sizes().with_front(batch);
    const Tensor<float, Host> zeros(host, out,
                                    std::vector<float>(static_cast<std::size_t>(out.numel())));
    optim::SGD optimizer(net, {.lr = 0.01});
    for (int step = std::atoi(arguments[4]); step > 0; --step) {
      auto loss = nn::MSELoss()(net(x), zeros);
      std::printf("%.9g\n", static_cast<double>(loss.item()));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    onnx::write(net, arguments[5]);
  }
  net.eval();
  write_numbers(arguments[3], net(x).to_vector());
}

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "";
  try {
    if (mode == "write" && count == 3)
      write_all(arguments[2]);
    else if (mode == "run" && count == 6)
      run(arguments + 2, false);
    else if (mode == "train" && count == 8)
      run(arguments + 2, true);
    else if (mode == "operators" && count == 2)
      for (const std::string_view op : onnx::supported_operators())
        std::printf("%.*s\n", static_cast<int>(op.size()), op.data());
    else
      return 2;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
