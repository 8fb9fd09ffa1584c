// The files that TensorBoard reads: events one after another.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include <gpunet/io/append_number.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/protobuf.hpp>

namespace gpunet::io::detail {

// Seconds since 1970.
inline double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

inline std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] ? name.data() : "localhost";
}

// One record of TensorFlow's TFRecord format: the length, its check sum, the data, its check sum. A sum is CRC-32C,
// turned and shifted, so that sums of data that holds sums stay good ones.
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

// A new event file in a folder, which is made where there is none. Each event is with the system when write() returns:
// a program that ends in a crash loses none, a machine that does, those of the last seconds. What a failed write leaves of
// its event is cut off, so that later ones can be read. Threads may share it.
class EventFile {
 public:
  explicit EventFile(const std::string& folder) {
    make_folders(folder);
    static std::atomic<int> files = 0;
    const auto now = static_cast<std::int64_t>(wall_time());
    path_ = concat(folder, "/events.out.tfevents.", now, ".", host_name(), ".", ::getpid(), ".", files++);
    file_ = Descriptor(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666);
    if (file_.number() < 0) fail("write", path_, "", errno);
    try {
      write_record(ProtoMessage().number(1, wall_time()).bytes(3, "brain.Event:2"));
    } catch (...) {  // an empty file would be left for each try
      ::unlink(path_.c_str());
      throw;
    }
  }

  const std::string& path() const { return path_; }

  // The event of one value of a summary.
  void write(const ProtoMessage& value, std::int64_t step, double seconds) {
    ProtoMessage event;
    event.number(1, seconds).integer(2, static_cast<std::uint64_t>(step));
    write_record(event.message(5, ProtoMessage().message(1, value)));
  }

  // Waits until all of it is on the disk.
  void flush() {
    {
      const std::lock_guard lock(mutex_);
      cut_rest();
    }
    if (uninterrupted([&] { return ::fsync(file_.number()); }) != 0) fail("write", path_, "", errno);
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

  // Makes the file end with its last whole record.
  bool cut() const {
    return uninterrupted([&] { return ::ftruncate(file_.number(), size_); }) == 0;
  }
  // Throws Error if a part of a record is at the end, behind which nothing could be read.
  void cut_rest() {
    if (has_rest_) has_rest_ = !cut();
    require(!has_rest_, "gpunet::io: cannot write ", path_,
            ": an earlier write left a part of a record, which could not be cut off (nothing behind it could be "
            "read), begin a new file");
  }

  std::string path_;
  Descriptor file_;
  off_t size_ = 0;         // of the whole records
  bool has_rest_ = false;  // a part of another one is behind them
  std::mutex mutex_;
};

}  // namespace gpunet::io::detail
