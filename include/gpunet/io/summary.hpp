// What TensorBoard shows: values of summaries, as its plugins want them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/image.hpp>
#include <gpunet/io/protobuf.hpp>

namespace gpunet::io {

// A hyperparameter: its name and a number, a text, or yes or no.
struct HParam {
  std::string name;
  std::variant<double, bool, std::string> value;

  HParam(std::string of, std::string text) : name(std::move(of)), value(std::move(text)) {}
  HParam(std::string of, const char* text) : HParam(std::move(of), std::string(text)) {}
  HParam(std::string of, bool yes) : name(std::move(of)), value(yes) {}
  // Of a number, of whatever type.
  template <class Number>
  requires std::is_arithmetic_v<Number> HParam(std::string of, Number number)
      : name(std::move(of)), value(static_cast<double>(number)) {}
};

namespace detail {

// How many of the numbers are in each bin: limits[i] is the upper limit of counts[i].
struct Histogram {
  std::vector<double> limits, counts;
};

// The limits of TensorFlow's bins: 0, and 1e-12 1.1^k up to 1e20 on both sides.
inline const std::vector<double>& histogram_limits() {
  static const std::vector<double> all = [] {
    std::vector<double> positive;
    for (double limit = 1e-12; limit < 1e20; limit *= 1.1)
      positive.push_back(limit);
    std::vector<double> limits;
    for (auto limit = positive.rbegin(); limit != positive.rend(); ++limit)
      limits.push_back(-*limit);
    limits.push_back(0);
    limits.insert(limits.end(), positive.begin(), positive.end());
    return limits;
  }();
  return all;
}

// Without the empty bins at both ends but for one at the left, which gives the first its lower limit.
inline Histogram count_in_bins(const std::vector<double>& values) {
  const std::vector<double>& limits = histogram_limits();
  std::vector<double> counts(limits.size());  // counts[i]: from limits[i - 1] to below limits[i]
  for (double value : values) {
    const auto above = std::upper_bound(limits.begin(), limits.end(), value);
    if (above != limits.end()) ++counts[static_cast<std::size_t>(above - limits.begin())];
  }
  const auto is_full = [](double count) {
    return count > 0;
  };
  const auto first = std::find_if(counts.begin(), counts.end(), is_full);
  const auto last = std::find_if(counts.rbegin(), counts.rend(), is_full).base();
  if (first >= last) return {{0}, {0}};
  const auto begin = std::max<std::ptrdiff_t>(first - counts.begin() - 1, 0), end = last - counts.begin();
  return {{limits.begin() + begin, limits.begin() + end}, {counts.begin() + begin, counts.begin() + end}};
}

// The field numbers below are those of tensorboard/compat/proto/summary.proto and of
// tensorboard/plugins/hparams/{plugin_data,api}.proto.

inline void check_tag(std::string_view tag) {
  require(!tag.empty(),
          "gpunet::io::SummaryWriter: the tag is empty, give what is written a name such as Train/Loss");
}

inline ProtoMessage tagged(std::string_view tag) {
  check_tag(tag);
  return ProtoMessage().bytes(1, tag);
}

inline ProtoMessage scalar_value(std::string_view tag, double value) {
  return tagged(tag).number(2, static_cast<float>(value));
}

inline ProtoMessage histogram_value(std::string_view tag, const std::vector<double>& all) {
  std::vector<double> values;
  for (double value : all)
    if (std::isfinite(value)) values.push_back(value);
  require(!values.empty(), "gpunet::io::SummaryWriter: the histogram ", tag, " of ", all.size(),
          " values has no finite one, check where they come from");
  double sum = 0, squares = 0;
  for (double value : values) {
    sum += value;
    squares += value * value;
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const Histogram bins = count_in_bins(values);
  ProtoMessage histogram;
  histogram.number(1, *least).number(2, *most).number(3, static_cast<double>(values.size()));
  histogram.number(4, sum).number(5, squares).numbers(6, bins.limits).numbers(7, bins.counts);
  return tagged(tag).message(5, histogram);
}

inline ProtoMessage image_value(std::string_view tag, const Image& image) {
  ProtoMessage message;
  message.integer(1, static_cast<std::uint64_t>(image.height)).integer(2, static_cast<std::uint64_t>(image.width));
  message.integer(3, static_cast<std::uint64_t>(image.channels)).bytes(4, encode_png(image));
  return tagged(tag).message(4, message);
}

inline ProtoMessage plugin(std::string_view name, std::string_view content = "") {
  ProtoMessage data;
  data.bytes(1, name);
  if (!content.empty()) data.bytes(2, content);
  return ProtoMessage().message(1, data);
}

// A tensor of one text, for the text plugin.
inline ProtoMessage text_value(std::string_view tag, std::string_view text) {
  constexpr std::uint64_t type_of_texts = 7;
  const ProtoMessage shape = ProtoMessage().message(2, ProtoMessage().integer(1, 1));
  ProtoMessage tensor;
  tensor.integer(1, type_of_texts).message(2, shape).bytes(8, text);
  check_tag(tag);
  return tagged(concat(tag, "/text_summary")).message(9, plugin("text")).message(8, tensor);
}

// The three values by which the hparams plugin knows a run: what is varied, what it is here, that it ended.
inline std::vector<ProtoMessage> hparams_values(const std::vector<HParam>& hparams,
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
    return tagged(tag).message(9, plugin("hparams", ProtoMessage().message(field, message).bytes()));
  };
  return {value("_hparams_/experiment", 2, experiment), value("_hparams_/session_start_info", 3, start),
          value("_hparams_/session_end_info", 4, end)};
}

}  // namespace detail
}  // namespace gpunet::io
