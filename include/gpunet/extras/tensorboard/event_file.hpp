// Event files, which TensorBoard reads, and the values in them as its plugins expect them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/image.hpp>
#include <gpunet/io/protobuf.hpp>

namespace gpunet::io::detail {

// Returns the time in seconds since 1970.
inline double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

inline std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] ? name.data() : "localhost";
}

// Returns a record of TensorFlow's TFRecord format: the length, its checksum, the data, its
// checksum. Checksums are CRC-32C, rotated and offset, so that a checksum of data that contains
// checksums is still reliable.
inline std::string event_record(std::string_view data) {
  const auto append_sum = [](std::string& out, std::string_view text) {
    const std::uint32_t sum = crc32c(std::as_bytes(std::span(text)));
    append_number(out, static_cast<std::uint32_t>((sum >> 15 | sum << 17) + 0xA282EAD8u));
  };
  std::string record;
  append_number(record, static_cast<std::uint64_t>(data.size()));
  append_sum(record, record);
  record += data;
  append_sum(record, data);
  return record;
}

// A new event file in a folder, which is created if needed. write() passes each event to the system
// before it returns: a crash of the program loses nothing, a crash of the machine the last seconds.
// A partly written event is removed, so that later ones can be read. Threads may share the file.
class EventFile {
 public:
  explicit EventFile(const std::string& folder) {
    make_folders(folder);
    static std::atomic<int> files = 0;
    const auto now = static_cast<std::int64_t>(wall_time());
    path_ = concat(folder, "/events.out.tfevents.", now, ".", host_name(), ".", ::getpid(), ".",
                   files++);
    file_ = Descriptor(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666);
    if (file_.number() < 0) fail("write", path_, "", errno);
    gpunet::detail::attempt(
        [&] { write_record(ProtoMessage().number(1, wall_time()).bytes(3, "brain.Event:2")); },
        [&] {  // do not leave an empty file
          ::unlink(path_.c_str());
          gpunet::detail::rethrow();
        });
  }

  const std::string& path() const { return path_; }

  // Writes an event with one value of a summary.
  void write(const ProtoMessage& value, std::int64_t step, double seconds) {
    ProtoMessage event;
    event.number(1, seconds).integer(2, static_cast<std::uint64_t>(step));
    write_record(event.message(5, ProtoMessage().message(1, value)));
  }

  // Waits until everything is on the disk.
  void flush() {
    {
      const std::lock_guard lock(mutex_);
      cut_rest();
    }
    if (uninterrupted([&] { return ::fsync(file_.number()); }) != 0)
      fail("write", path_, "", errno);
  }

 private:
  void write_record(const ProtoMessage& event) {
    const std::string record = event_record(event.bytes());
    const std::lock_guard lock(mutex_);
    cut_rest();
    for (std::string_view rest = record; !rest.empty();) {
      const auto n = write_some(file_.number(), std::as_bytes(std::span(rest)));
      if (n < 0) {
        const int error = errno;
        if (rest.size() < record.size()) has_rest_ = !cut();
        fail("write", path_, "", error);
      }
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
    size_ += static_cast<off_t>(record.size());
  }

  // Truncates the file after its last complete record. Returns whether that succeeded.
  bool cut() const {
    return uninterrupted([&] { return ::ftruncate(file_.number(), size_); }) == 0;
  }
  // Removes a partly written record from the end, behind which nothing could be read. Throws Error
  // if that fails.
  void cut_rest() {
    if (has_rest_) has_rest_ = !cut();
    require(!has_rest_, "gpunet::io: cannot write ", path_,
            ": an earlier write left a partial record that could not be removed (later records "
            "could not be "
            "read), begin a new file");
  }

  std::string path_;
  Descriptor file_;
  off_t size_ = 0;         // of the complete records
  bool has_rest_ = false;  // a partial record follows them
  std::mutex mutex_;
};

// A histogram: counts[i] values are in the bin with the upper limit limits[i].
struct Histogram {
  std::vector<double> limits, counts;
};

// Returns the limits of PyTorch's bins: 0, and 1e-12 1.1^k up to 1e20 on both sides.
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

// Returns the histogram without the empty bins at both ends, except one at the left, which gives
// the first bin its lower limit. Larger values than the last limit are in a bin up to the largest
// number, as TensorFlow's; PyTorch drops them.
inline Histogram count_in_bins(const std::vector<double>& values) {
  std::vector<double> limits = histogram_limits();
  limits.push_back(std::numeric_limits<double>::max());
  std::vector<double> counts(limits.size());  // counts[i]: from limits[i - 1] to below limits[i]
  for (double value : values) {
    const auto above = std::upper_bound(limits.begin(), limits.end() - 1, value);
    ++counts[static_cast<std::size_t>(above - limits.begin())];
  }
  const auto is_full = [](double count) {
    return count > 0;
  };
  const auto first = std::find_if(counts.begin(), counts.end(), is_full);
  const auto last = std::find_if(counts.rbegin(), counts.rend(), is_full).base();
  if (first >= last) return {{0}, {0}};
  const auto begin = std::max<std::ptrdiff_t>(first - counts.begin() - 1, 0),
             end = last - counts.begin();
  return {{limits.begin() + begin, limits.begin() + end},
          {counts.begin() + begin, counts.begin() + end}};
}

// The field numbers below are those of tensorboard/compat/proto/summary.proto and of
// tensorboard/plugins/hparams/{plugin_data,api}.proto.

inline void check_tag(std::string_view tag) {
  require(!tag.empty(),
          "gpunet::io::SummaryWriter: the tag is empty, give what is written a name such as "
          "Train/Loss");
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
  message.integer(1, static_cast<std::uint64_t>(image.height))
      .integer(2, static_cast<std::uint64_t>(image.width));
  message.integer(3, static_cast<std::uint64_t>(image.channels)).bytes(4, encode_png(image));
  return tagged(tag).message(4, message);
}

inline ProtoMessage plugin(std::string_view name, std::string_view content = "") {
  ProtoMessage data;
  data.bytes(1, name);
  if (!content.empty()) data.bytes(2, content);
  return ProtoMessage().message(1, data);
}

// Returns a tensor that contains one text, for the text plugin.
inline ProtoMessage text_value(std::string_view tag, std::string_view text) {
  constexpr std::uint64_t type_of_texts = 7;
  const ProtoMessage shape = ProtoMessage().message(2, ProtoMessage().integer(1, 1));
  ProtoMessage tensor;
  tensor.integer(1, type_of_texts).message(2, shape).bytes(8, text);
  check_tag(tag);
  return tagged(concat(tag, "/text_summary")).message(9, plugin("text")).message(8, tensor);
}

}  // namespace gpunet::io::detail
