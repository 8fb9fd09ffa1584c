// ONNX operators that change shapes, and move or choose elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/nn/reshape.hpp>
#include <gpunet/onnx/node_reader.hpp>
#include <gpunet/ops/gather.hpp>

namespace gpunet::onnx::detail {

inline namespace GPUNET_BACKENDS {

inline Value view(const Value& x, const Sizes& sizes) {
  if (x.sizes() == sizes) return x;
  return nn::detail::add_node<nn::detail::ReshapeOp>("reshape", nn::detail::ReshapeOp{false}, x,
                                                     sizes);
}

inline void read_reshape(NodeReader& node) {
  const Value& x = node.value(0);
  const Sizes in = x.sizes();
  const Known* shape = node.known(1);
  node.want(shape && shape->is_small && shape->sizes.rank() <= 1 && !shape->integers.empty() &&
                shape->integers.size() <= std::size_t{Sizes::max_rank},
            "a shape that depends on the inputs, or of more than 8 dimensions, save the model with "
            "constant sizes");
  const bool keeps_zeros = node.attribute("allowzero", index_t{0}) != 0;
  std::vector<Extent> to = shape->integers;
  const int batch = node.batch_dim();
  for (int i = 0; std::cmp_less(i, to.size()); ++i)
    if (Extent& extent = to[static_cast<std::size_t>(i)];
        extent == Extent{} && !keeps_zeros && i < x.dim())
      extent = i == batch ? Extent{0, 1} : Extent{in[i < batch ? i : i - 1]};
  const auto refuse = [&] {
    std::string text;
    for (const Extent& extent : to)
      text += concat(text.empty() ? "" : ", ",
                     extent.batches == 0 ? concat(extent.number)
                                         : concat(extent.batches, " batch + ", extent.number));
    node.fail(concat("a value of shape ", nn::detail::shape_text(in), " as [", text,
                     "] (gpunet keeps the batch apart), change the model"));
  };
  // The batch stays behind the same number of elements.
  index_t before = 1, others = 1;
  for (int i = 0; i < batch; ++i)
    before *= in[i];
  const auto is_batch = [&](const Extent& extent) {
    return others == before &&
           (extent == Extent{0, 1} || extent == Extent{-1} ||
            (node.building().batch >= 0 && extent == Extent{node.building().batch}));
  };
  int place = -1;
  std::optional<std::size_t> computed;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (place < 0 && !computed && is_batch(to[i]))
      place = static_cast<int>(i);
    else if (to[i] == Extent{-1} && !computed)
      computed = i;
    else if (to[i].batches != 0 || to[i].number < 1 || others > most_elements / to[i].number)
      refuse();
    else
      others *= to[i].number;
  }
  if (place < 0 || in.numel() % others != 0 || (!computed && in.numel() != others)) refuse();
  Sizes out;
  for (std::size_t i = 0; i < to.size(); ++i)
    if (std::cmp_not_equal(i, place))
      out.append(i == computed ? in.numel() / others : to[i].number);
  node.set_batch_dim(place);
  node.give(view(x, out));
}

inline void read_flatten(NodeReader& node) {
  const Value& x = node.value(0);
  node.want_batch_first();
  node.want(x.sizes().rank() >= 1 && node.sample_dim(x, node.attribute("axis", index_t{1})) == 0,
            "an axis other than 1 (the batch stays the first dimension)");
  node.give(nn::flatten(x));
}

inline void read_squeeze(NodeReader& node) {
  const Value& x = node.value(0);
  const auto axes = node.integers("axes", 1);
  std::vector<bool> drops(static_cast<std::size_t>(x.sizes().rank()));
  if (axes)
    for (const index_t axis : *axes) {
      const int dim = node.sample_dim(x, axis);
      node.want(x.sizes()[dim] == 1, "an axis whose extent is not 1");
      drops[static_cast<std::size_t>(dim)] = true;
    }
  Sizes out;
  const int batch = node.batch_dim();
  for (int i = 0; i < x.sizes().rank(); ++i)
    if (axes ? !drops[static_cast<std::size_t>(i)] : x.sizes()[i] != 1)
      out.append(x.sizes()[i]);
    else if (i < batch)
      node.set_batch_dim(node.batch_dim() - 1);
  node.give(view(x, out));
}

inline void read_unsqueeze(NodeReader& node) {
  const Value& x = node.value(0);
  const auto axes = node.integers("axes", 1);
  node.want(axes.has_value(), "no axes");
  const index_t rank = x.dim() + std::ssize(*axes);
  node.want(rank <= Sizes::max_rank, "more than 8 dimensions");
  std::vector<bool> is_new(static_cast<std::size_t>(rank));
  for (const index_t axis : *axes) {
    const index_t at = axis < 0 ? axis + rank : axis;
    node.want(at >= 0 && at < rank && !is_new[static_cast<std::size_t>(at)],
              "an axis that is given twice or out of range");
    is_new[static_cast<std::size_t>(at)] = true;
  }
  Sizes out;
  const int batch = node.batch_dim();
  for (int i = 0, next = 0; i < rank; ++i)
    if (is_new[static_cast<std::size_t>(i)])
      out.append(1);
    else if (const int from = next++; from == batch)
      node.set_batch_dim(i);
    else
      out.append(x.sizes()[from < batch ? from : from - 1]);
  node.give(view(x, out));
}

inline void read_transpose(NodeReader& node) {
  const Value& x = node.value(0);
  const Sizes in = x.sizes();
  std::vector<index_t> perm;
  for (int i = x.dim(); i-- > 0;)
    perm.push_back(i);
  if (const Attribute* given = node.info().find("perm")) perm = given->integers;
  std::vector<index_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = std::ssize(perm) == x.dim();
  for (std::size_t i = 0; is_permutation && i < sorted.size(); ++i)
    is_permutation = std::cmp_equal(sorted[i], i);
  node.want(is_permutation,
            concat("a perm that does not name each of ", x.dim(), " dimensions once"));
  const auto batch = std::find(perm.begin(), perm.end(), node.batch_dim());
  const auto place = static_cast<int>(batch - perm.begin());
  perm.erase(batch);
  GatherOp op{GatherOp::Kind::permute, static_cast<std::uint8_t>(in.rank())};
  Sizes out;
  bool is_same = true;
  for (int i = 0; i < in.rank(); ++i) {
    const int from = node.sample_dim(x, perm[static_cast<std::size_t>(i)]);
    op.axes[static_cast<std::size_t>(i)] = {in[from], in[from], 0, static_cast<std::int8_t>(from)};
    out.append(in[from]);
    is_same = is_same && from == i;
  }
  node.set_batch_dim(place);
  node.give(is_same ? x : nn::detail::add_node<GatherOp>("permute", op, x, out));
}

inline void read_concat(NodeReader& node) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < node.inputs(); ++i)
    values.push_back(node.value(i));
  node.want(!values.empty(), "no inputs");
  const int dim = node.sample_dim(values[0], node.attribute("axis", index_t{1})) + 1;
  while (values.size() > 1) {
    const std::size_t count = std::min<std::size_t>(values.size(), most_inputs);
    const Value joined = nn::cat(std::span(values).first(count), dim);
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
    values.insert(values.begin(), joined);
  }
  node.give(values[0]);
}

inline void read_split(NodeReader& node) {
  const Value& x = node.value(0);
  const int dim = node.sample_dim(x, node.attribute("axis", index_t{0}));
  const auto count = static_cast<index_t>(node.info().outputs.size()), all = x.sizes()[dim];
  auto parts = node.integers("split", 1);
  if (!parts) {
    const index_t each = (all + count - 1) / count;
    parts.emplace(node.info().outputs.size(), each);
    parts->back() = all - each * (count - 1);
  }
  node.want(std::ssize(*parts) == count, "another number of parts than outputs");
  index_t first = 0;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    node.give(nn::narrow(x, dim + 1, first, (*parts)[i]), i);
    first += (*parts)[i];
  }
}

// `before` and `after` are in the order of the dimensions of a sample.
inline Value padded(NodeReader& node, const Value& x, std::span<const index_t> before,
                    std::span<const index_t> after, PadMode mode = PadMode::constant,
                    double value = 0) {
  std::vector<index_t> paddings;
  bool is_copy = true;
  for (std::size_t i = before.size(); i-- > 0;) {
    paddings.insert(paddings.end(), {before[i], after[i]});
    is_copy = is_copy && before[i] == 0 && after[i] == 0;
  }
  if (is_copy) return x;
  node.want(can_pad(mode, x.sizes(), paddings), "pads that its mode does not allow");
  const GatherOp op =
      GatherOp::padding(GatherOp::Kind::pad_with_mode, mode, x.sizes(), paddings, value);
  return nn::detail::add_node<GatherOp>("pad", op, x, op.output());
}

// Returns x from its last element to its first along a dimension of its samples: the padding of a
// reflection.
inline Value reversed(NodeReader& node, const Value& x, int dim) {
  const index_t extent = x.sizes()[dim];
  std::vector<index_t> before(static_cast<std::size_t>(x.sizes().rank())), after = before;
  before[static_cast<std::size_t>(dim)] = extent - 1;
  return nn::narrow(padded(node, x, before, after, PadMode::reflect), dim + 1, 0, extent);
}

inline void read_slice(NodeReader& node) {
  Value x = node.value(0);
  const auto starts = node.integers("starts", 1), ends = node.integers("ends", 2),
             axes = node.integers("axes", 3), steps = node.integers("steps", 4);
  node.want(starts && ends && starts->size() == ends->size() &&
                (!axes || axes->size() == starts->size()) &&
                (!steps || steps->size() == starts->size()),
            "starts, ends, axes and steps of different lengths");
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const int dim = node.sample_dim(x, axes ? (*axes)[i] : static_cast<index_t>(i));
    const index_t all = x.sizes()[dim];
    const auto within = [&](index_t at) {
      return std::clamp<index_t>(at < 0 ? at + all : at, 0, all);
    };
    if (steps && (*steps)[i] == -1) {
      node.want(within((*starts)[i]) >= all - 1 && (*ends)[i] < -all,
                "a step of -1 for a part of a dimension");
      x = reversed(node, x, dim);
      continue;
    }
    node.want(!steps || (*steps)[i] == 1, "steps other than 1 and -1");
    const index_t first = within((*starts)[i]), last = within((*ends)[i]);
    if (first != 0 || last != all) x = nn::narrow(x, dim + 1, first, last - first);
  }
  node.give(x);
}

inline void read_gather(NodeReader& node) {
  if (node.known(0)) {  // rows of a table
    const Known& table = node.weights(0, 2);
    const Value& x = node.value(1);
    node.want(node.attribute("axis", index_t{0}) == 0, "an axis other than 0 of a table");
    return node.give(node.layer(
        {table.tensor}, {},
        [&](const std::string& name) {
          return nn::embedding(x, table.sizes[0], table.sizes[1], name);
        },
        x));
  }
  const Value& x = node.value(0);
  const int dim = node.sample_dim(x, node.attribute("axis", index_t{0}));
  const Known* index = node.known(1);
  node.want(index && index->is_small && index->sizes.rank() == 0 && index->integers[0].batches == 0,
            "indices that are no single constant number");
  const index_t at = index->integers[0].number;
  const Value part = nn::narrow(x, dim + 1, at < 0 ? at + x.sizes()[dim] : at, 1);
  Sizes out;
  for (int i = 0; i < part.sizes().rank(); ++i)
    if (i != dim) out.append(part.sizes()[i]);
  if (dim < node.batch_dim()) node.set_batch_dim(node.batch_dim() - 1);
  node.give(view(part, out));
}

// Returns x of images [channels, height, width], all of whose extents are small enough to multiply.
inline const Value& image_of_pixels(const NodeReader& node, index_t factor) {
  const Value& x = node.value(0);
  node.want_batch_first();
  node.want(x.sizes().rank() == 3 && factor >= 1 && factor <= 1 << 16 &&
                x.sizes().at_most(most_elements / (factor * factor)),
            concat("a factor of ", factor, " for a value of shape ",
                   nn::detail::shape_text(x.sizes()), " (want images, and 1 to 65536)"));
  return x;
}

inline void read_depth_to_space(NodeReader& node) {
  const index_t factor = node.attribute("blocksize", index_t{0});
  const Value& x = image_of_pixels(node, factor);
  const Sizes in = x.sizes();
  node.want(
      node.attribute("mode", "DCR") == std::string_view("CRD") && in[0] % (factor * factor) == 0,
      "a mode other than CRD, or channels that the blocks do not divide");
  node.give(nn::detail::add_node<GatherOp>(
      "pixel_shuffle", GatherOp::pixel_shuffle(in, factor), x,
      Sizes{in[0] / (factor * factor), in[1] * factor, in[2] * factor}));
}

// Nearest numbers of signals, images or volumes that become larger by a whole factor.
inline void read_resize(NodeReader& node) {
  const std::string_view place = node.attribute("coordinate_transformation_mode", "half_pixel"),
                         nearest = node.attribute("nearest_mode", "round_prefer_floor");
  node.want(node.attribute("mode", "nearest") == std::string_view("nearest") &&
                (place == "asymmetric"
                     ? nearest == "floor"
                     : place.ends_with("half_pixel") && nearest.starts_with("round_prefer")),
            "a mode other than nearest with asymmetric and floor, or with half_pixel and rounding");
  const std::size_t of_scales = node.opset() >= 11 ? 2 : 1;
  std::vector<double> scales;
  const Sizes in = node.value(0).sizes();
  if (const Known* known = node.known(of_scales); known && known->sizes.numel() > 0) {
    scales = numbers_of(*known).value_or(scales);
  } else if (const Known* sizes = node.known(3); sizes && sizes->is_small) {
    node.want(std::ssize(sizes->integers) == in.rank() + 1, "sizes of another rank");
    scales.push_back(1);
    for (int i = 0; i < in.rank(); ++i) {
      const auto size =
          static_cast<double>(sizes->integers[static_cast<std::size_t>(i) + 1].number);
      scales.push_back(size / static_cast<double>(in[i]));
    }
  }
  const int rank = in.rank();
  node.want(rank >= 2 && rank <= 4 && std::ssize(scales) == rank + 1 && scales[0] == 1 &&
                scales[1] == 1 && scales[2] >= 1 && scales[2] <= 1 << 16 &&
                std::floor(scales[2]) == scales[2] &&
                std::equal(scales.begin() + 3, scales.end(), scales.begin() + 2),
            "scales other than one whole factor for all dimensions behind the channels");
  const auto factor = static_cast<index_t>(scales[2]);
  Sizes out{in[0]};
  for (int i = 1; i < rank; ++i)
    out.append(in[i] * factor);
  node.want(out.at_most(most_elements), "more elements than any memory holds");
  node.give(nn::detail::add_node<GatherOp>("upsample", GatherOp::upsample(in, factor),
                                           node.value(0), out));
}

inline PadMode pad_mode(NodeReader& node) {
  const std::string_view name = node.attribute("mode", "constant");
  for (const auto& [known, mode] : {std::pair{"constant", PadMode::constant},
                                    {"reflect", PadMode::reflect},
                                    {"edge", PadMode::replicate},
                                    {"wrap", PadMode::circular}})
    if (name == known) return mode;
  node.fail("a mode other than constant, reflect, edge and wrap");
}

inline void read_pad(NodeReader& node) {
  const Value& x = node.value(0);
  const PadMode mode = pad_mode(node);
  const std::optional<double> value = node.has(2) ? node.number(2) : node.attribute("value", 0.0);
  node.want(value.has_value(), "a value that is no constant number");
  const auto pads = node.integers("pads", 1);
  auto axes = node.integers("axes", 3);
  if (!axes) {
    axes.emplace();
    for (int i = 0; i < x.dim(); ++i)
      axes->push_back(i);
  }
  node.want(pads && pads->size() == 2 * axes->size(), "other than two pads for each axis");
  const auto rank = static_cast<std::size_t>(x.sizes().rank());
  std::vector<index_t> before(rank), after(rank);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const index_t first = (*pads)[i], last = (*pads)[i + axes->size()];
    if (first == 0 && last == 0) continue;
    const auto dim = static_cast<std::size_t>(node.sample_dim(x, (*axes)[i]));
    before[dim] = first, after[dim] = last;
  }
  node.give(padded(node, x, before, after, mode, *value));
}

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::onnx::detail
