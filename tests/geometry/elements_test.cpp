#include <gpunet/ops/bilinear.hpp>
#include <gpunet/ops/gather.hpp>
#include <gpunet/ops/glu.hpp>
#include <gpunet/ops/prelu.hpp>

#include "geometry/check.hpp"

using namespace gpunet;
using geometry::Configuration, geometry::Draw, geometry::Registered;
using nn::Value;

namespace {

// One to four dimensions.
void draw_sizes(Draw& d, index_t most = 40) {
  const index_t rank = d.pick("rank", 1, 4);
  for (index_t i = 0; i < rank; ++i)
    d.extent(std::array{"size0", "size1", "size2", "size3"}[static_cast<std::size_t>(i)], most);
}
index_t size(const Configuration& c, int i) {
  return c[std::array{"size0", "size1", "size2", "size3"}[static_cast<std::size_t>(i)]];
}
Sizes sizes(const Configuration& c) {
  Sizes sizes;
  for (int i = 0; i < c["rank"]; ++i)
    sizes.append(size(c, i));
  return sizes;
}
int rank(const Configuration& c) {
  return static_cast<int>(c["rank"]);
}

const Registered linear_family(
    "linear",
    [](Draw& d) {
      const index_t rank = d.one_of("rank", {1, 1, 2, 3});
      d.extent("size0", rank == 1 ? 300 : 20);
      if (rank > 1) d.extent("size1", 70);
      if (rank > 2) d.extent("size2", 70);
      d.extent("out", 300);
      d.pick("bias", 0, 1);
      d.once_in("relu", 2);
      if (d.once_in("more", 3)) d.extent("out2", 70);
    },
    sizes,
    [](const Value& x, const Configuration& c) {
      Value y = linear(x, c["out"], {.bias = c["bias"] == 1});
      if (c["relu"]) y = relu(y);
      return c["more"] ? linear(y, c["out2"]) : y;
    });

using Activation = Value (*)(const Value&);
constexpr std::array<Activation, 18> activations{
    [](const Value& x) { return relu(x); },
    [](const Value& x) { return relu6(x); },
    [](const Value& x) { return leaky_relu(x); },
    [](const Value& x) { return elu(x); },
    [](const Value& x) { return selu(x); },
    [](const Value& x) { return gelu(x); },
    [](const Value& x) { return silu(x); },
    [](const Value& x) { return mish(x); },
    [](const Value& x) { return tanh(x); },
    [](const Value& x) { return sigmoid(x); },
    [](const Value& x) { return logsigmoid(x); },
    [](const Value& x) { return softplus(x); },
    [](const Value& x) { return softsign(x); },
    [](const Value& x) { return hardtanh(x, -0.5, 0.5); },
    [](const Value& x) { return hardswish(x); },
    [](const Value& x) { return hardsigmoid(x); },
    [](const Value& x) { return exp(sin(x)); },
    [](const Value& x) {
      return sqrt(square(cos(x)) + 1.0);
    }};

const Registered activation_family(
    "activation",
    [](Draw& d) {
      d.pick("function", 0, static_cast<index_t>(activations.size()) - 1);
      draw_sizes(d);
    },
    sizes,
    [](const Value& x, const Configuration& c) {
      return activations[static_cast<std::size_t>(c["function"])](4 * x);
    });

const Registered softmax_family(
    "softmax",
    [](Draw& d) {
      draw_sizes(d, 70);
      d.pick("dim", 1, d["rank"]);
      d.pick("logarithm", 0, 1);
    },
    sizes,
    [](const Value& x, const Configuration& c) {
      const int dim = static_cast<int>(c["dim"]);
      return c["logarithm"] ? log_softmax(4 * x, dim) : softmax(4 * x, dim);
    });

// A binary function of x and a part of it that is repeated along some dimensions.
const Registered binary_family(
    "binary",
    [](Draw& d) {
      draw_sizes(d);
      d.pick("function", 0, 5);
      d.pick("of_size1", 0, 15);  // a bit for each dimension along which b is repeated
      d.pick("left_out", 0, 3);   // dimensions in front that b lacks
      d.pick("swapped", 0, 1);
    },
    sizes,
    [](const Value& x, const Configuration& c) {
      Value b = cos(x);
      for (int i = 0; i < rank(c); ++i)
        if (c["of_size1"] >> i & 1) b = narrow(b, i + 1, size(c, i) / 2, 1);
      for (int i = 0; i < std::min<index_t>(c["left_out"], rank(c) - 1); ++i)
        b = mean(b, 1);
      const Value a = sin(3 * x);
      const Value &left = c["swapped"] ? b : a, &right = c["swapped"] ? a : b;
      switch (c["function"]) {
        case 0:
          return left + right;
        case 1:
          return left - right;
        case 2:
          return left * right;
        case 3:
          return left / (square(right) + 0.5);
        case 4:
          return maximum(left, right);
        default:
          return minimum(left, right);
      }
    });

// The sum or the mean along any dimensions.
const Registered sum_family(
    "sum",
    [](Draw& d) {
      draw_sizes(d, 70);
      d.pick("dims", 1, 15);
      d.pick("mean", 0, 1);
      d.pick("keepdim", 0, 1);
    },
    sizes,
    [](const Value& x, const Configuration& c) {
      Value y = x;
      for (int i = rank(c); i-- > 0;)
        if (c["dims"] >> i & 1) {
          const bool with_next = i > 0 && (c["dims"] >> (i - 1) & 1);
          const bool keepdim = c["keepdim"] == 1;
          if (with_next) {
            y = c["mean"] ? mean(y, {i, i + 1}, keepdim) : sum(y, {i, i + 1}, keepdim);
            --i;
          } else {
            y = c["mean"] ? mean(y, i + 1, keepdim) : sum(y, i + 1, keepdim);
          }
        }
      return y;
    });

// Moves of data one after another: the order of dimensions, a part of one, joined parts.
const Registered moves_family(
    "moves",
    [](Draw& d) {
      draw_sizes(d);
      d.pick("order", 0, 23);
      const index_t dim = d.pick("dim", 1, d["rank"]);
      d.pick("part", 1, 8);  // in eighths
      d.pick("start", 0, 8);
      d.pick("joined", 1, dim);
    },
    sizes,
    [](const Value& x, const Configuration& c) {
      std::vector<int> dims(static_cast<std::size_t>(rank(c)));
      std::iota(dims.begin(), dims.end(), 1);
      for (index_t i = 0; i < c["order"] && std::next_permutation(dims.begin(), dims.end()); ++i) {
      }
      Value y = x;
      switch (rank(c)) {
        case 1:
          break;
        case 2:
          y = permute(x, {0, dims[0], dims[1]});
          break;
        case 3:
          y = permute(x, {0, dims[0], dims[1], dims[2]});
          break;
        default:
          y = permute(x, {0, dims[0], dims[1], dims[2], dims[3]});
      }
      const int dim = static_cast<int>(c["dim"]);
      const index_t extent = y.size(dim), length = std::max<index_t>(1, extent * c["part"] / 8);
      const Value part = narrow(y, dim, (extent - length) * c["start"] / 8, length);
      return nn::cat({part, y, sin(part)}, dim);
    });

Sizes image(const Configuration& c) {
  return {c["channels"], c["height"], c["width"]};
}
const Registered gather_family(
    "images",
    [](Draw& d) {
      const index_t kind = d.pick("kind", 0, 4);
      const index_t factor = d.pick("factor", 1, 5);
      const index_t channels = d.extent("channels", 12);
      if (kind == 1) d.set("channels", channels * factor * factor);
      const index_t height = d.extent("height", 30), width = d.extent("width", 40);
      if (kind != 0) return;
      const auto mode = static_cast<PadMode>(d.pick("mode", 0, 3));
      for (const char* side : {"left", "right", "top", "bottom"}) {  // one more than the padding
        const index_t extent = side[0] == 'l' || side[0] == 'r' ? width : height;
        d.extent(side, mode == PadMode::reflect    ? std::min<index_t>(9, extent)
                       : mode == PadMode::circular ? std::min<index_t>(9, extent + 1)
                                                   : 9);
      }
    },
    image,
    [](const Value& x, const Configuration& c) {
      const index_t channels = c["channels"], height = c["height"], width = c["width"],
                    factor = c["factor"];
      if (c["kind"] == 0)
        return pad(x, {c["left"] - 1, c["right"] - 1, c["top"] - 1, c["bottom"] - 1},
                   name_of(static_cast<PadMode>(c["mode"])));
      const auto axis = [&](index_t size) {
        const index_t outputs = size * factor;
        return c["kind"] == 3
                   ? BilinearAxis{size, outputs, 2, 1 - factor, 2 * factor}
                   : BilinearAxis{size, outputs, size - 1, 0, std::max<index_t>(1, outputs - 1)};
      };
      GatherOp op{};
      Sizes out{channels, height * factor, width * factor};
      if (c["kind"] == 1) {
        out = {channels / factor / factor, height * factor, width * factor};
        op = {GatherOp::Kind::pixel_shuffle,
              5,
              {{{out[0], out[0], 0, 0},
                {height, height, 0, 3},
                {factor, factor, 0, 1},
                {width, width, 0, 4},
                {factor, factor, 0, 2}}}};
      } else if (c["kind"] == 2) {
        op = {GatherOp::Kind::upsample,
              5,
              {{{channels, channels, 0, 0},
                {height, height, 0, 1},
                {1, factor, 0, 2, PadMode::replicate},
                {width, width, 0, 3},
                {1, factor, 0, 4, PadMode::replicate}}}};
      } else {
        return nn::detail::add_node<nn::Upsample<1>>(
            "bilinear", BilinearOp{factor, axis(height), axis(width)}, x, out);
      }
      return nn::detail::add_node<nn::Upsample<1>>("gather", op, x, out);
    });

const Registered glu_family(
    "glu",
    [](Draw& d) {
      draw_sizes(d);
      d.pick("dim", 0, d["rank"] - 1);
    },
    [](const Configuration& c) {
      Sizes doubled;
      for (int i = 0; i < rank(c); ++i)
        doubled.append(size(c, i) * (i == c["dim"] ? 2 : 1));
      return doubled;
    },
    [](const Value& x, const Configuration& c) {
      GluOp op{1, 1, static_cast<int>(c["dim"]) + 1};
      for (int i = 0; i < rank(c); ++i)
        (i < c["dim"] ? op.rows : op.half) *= size(c, i);
      return nn::detail::add_node<nn::GLU<>>("glu", op, x, sizes(c));
    });

const Registered prelu_family(
    "prelu",
    [](Draw& d) {
      draw_sizes(d);
      d.pick("each", 0, 1);
    },
    sizes,
    [](const Value& x, const Configuration& c) {
      const index_t slopes = c["each"] ? size(c, 0) : 1;
      const std::array weight{nn::constant("weight", {slopes}, 0.25)};
      return nn::detail::add_node<nn::PReLU<>>(
          "prelu", PReLUOp{slopes, slopes == 1 ? 1 : x.sizes().numel() / slopes}, x, x.sizes(),
          weight);
    });

}  // namespace

TEST_CASE_TEMPLATE("random geometries of linear", D, GPUNET_TEST_DEVICES) {
  geometry::check_family<D>("linear");
}
TEST_CASE_TEMPLATE("random geometries of element-wise layers and sums", D, GPUNET_TEST_DEVICES) {
  geometry::check_families<D>({"activation", "softmax", "binary", "sum", "glu", "prelu"});
}
TEST_CASE_TEMPLATE("random geometries of moves", D, GPUNET_TEST_DEVICES) {
  geometry::check_families<D>({"moves", "images"});
}
