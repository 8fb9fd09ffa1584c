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
// a program that ends in a crash loses none, a machine that does, those of the last seconds. Threads may share it.
class EventFile {
 public:
  explicit EventFile(const std::string& folder) {
    make_folders(folder);
    static std::atomic<int> files = 0;
    const auto now = static_cast<std::int64_t>(wall_time());
    path_ = concat(folder, "/events.out.tfevents.", now, ".", host_name(), ".", ::getpid(), ".", files++);
    file_ = Descriptor(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666);
    if (file_.number() < 0) fail("write", path_, "", errno);
    write_record(ProtoMessage().number(1, wall_time()).bytes(3, "brain.Event:2"));
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
    if (uninterrupted([&] { return ::fsync(file_.number()); }) != 0) fail("write", path_, "", errno);
  }

 private:
  void write_record(const ProtoMessage& event) {
    const std::string record = event_record(event.bytes());
    const std::lock_guard lock(mutex_);
    for (std::string_view rest = record; !rest.empty();) {
      const auto n = write_some(file_.number(), std::as_bytes(std::span(rest)));
      if (n < 0) fail("write", path_, "", errno);
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  std::string path_;
  Descriptor file_;
  std::mutex mutex_;
};

}  // namespace gpunet::io::detail
