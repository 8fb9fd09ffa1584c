// Bodies of checkpoint.hpp.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/checkpoint.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/formats.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/safetensors.hpp>
#include <gpunet/io/tensor_file.hpp>

namespace gpunet::io {

namespace detail {

inline constexpr const char* checkpoint_version = "1";

// Metadata of the checksum of an entry.
inline std::string checksum_key(const std::string& name) {
  return "crc32 " + name;
}
inline std::string checksum_of(std::span<const std::byte> bytes) {
  return std::to_string(crc32(bytes));
}

// Collects the written values.
class StateWriter final : public StateVisitor {
 public:
  std::vector<TensorEntry> entries;
  Metadata metadata;

 private:
  template <class T>
  void write(const std::string& name, const Sizes& sizes, std::span<T> x) {
    const auto bytes = std::as_bytes(x);
    const std::vector<std::byte>& kept = bytes_.emplace_back(bytes.begin(), bytes.end());
    entries.push_back({.name = name, .dtype = dtype_of<T>(), .sizes = sizes, .bytes = kept});
    metadata[checksum_key(name)] = checksum_of(kept);
  }
  void visit(const std::string& name, const Sizes& sizes, std::span<float> x) override {
    write(name, sizes, x);
  }
  void visit(const std::string& name, const Sizes& sizes, std::span<double> x) override {
    write(name, sizes, x);
  }
  void visit(const std::string& name, const Sizes& sizes, std::span<index_t> x) override {
    write(name, sizes, x);
  }
  void visit(const std::string& name, const Sizes& sizes, std::span<std::uint8_t> x) override {
    write(name, sizes, x);
  }
  index_t written_number(const std::string&) override { return 0; }
  void check_option(const std::string&, double) override {}
  bool was_written(const std::string&) const override { return true; }

  std::deque<std::vector<std::byte>> bytes_;
};

// Reads a file that it has checked: all checksums hold.
class StateReader final : public StateVisitor {
 public:
  // Reads values written to memory, in one pass.
  explicit StateReader(const StateWriter& written) {
    for (const TensorEntry& entry : written.entries)
      entries_[entry.name] = &entry;
    pass_ = Pass::read;
  }
  explicit StateReader(const TensorFile& file) : path_(file.path()) {
    const auto version = file.metadata().find("gpunet_checkpoint");
    require(version != file.metadata().end(), "gpunet::io::Checkpoint: ", path_,
            " is no checkpoint (weights alone are read by io::load), name another file");
    require(version->second == checkpoint_version, "gpunet::io::Checkpoint: ", path_,
            " is of version ", printable(version->second), " (want ", checkpoint_version,
            "), read it with the gpunet that wrote it");
    for (const TensorEntry& entry : file.entries()) {
      std::vector<std::byte> room;
      const auto sum = file.metadata().find(checksum_key(entry.name));
      if (sum == file.metadata().end() || sum->second != checksum_of(bytes_of(entry, room)))
        throw_error(
            Error(concat("gpunet::io::Checkpoint: ", path_, " is damaged (the checksum of ",
                         printable(entry.name), " differs), ",
                         exists(earlier_name(path_, 1))
                             ? concat("rename the one before to it, ", earlier_name(path_, 1))
                             : std::string("use an earlier one"))));
      entries_[entry.name] = &entry;
    }
    pass_ = Pass::check;
  }

  // Ends the first pass. Throws Error for values that nobody asked for.
  void begin_reading() {
    for (const auto& [name, entry] : entries_)
      require(asked_.contains(name), "gpunet::io::Checkpoint: ", path_, " has ", printable(name),
              ", which the objects here do not (others were saved, or with other options), add "
              "what was saved");
    pass_ = Pass::read;
  }

 private:
  template <class T>
  const TensorEntry& entry_of(const std::string& name, const Sizes& sizes) {
    const auto found = entries_.find(name);
    require(found != entries_.end(), "gpunet::io::Checkpoint: ", path_, " has no ", name,
            " (another object was saved, or one with other options), add what was saved");
    const TensorEntry& entry = *found->second;
    require(entry.dtype == dtype_of<T>() && entry.sizes == sizes, "gpunet::io::Checkpoint: ", path_,
            " has ", name, " of shape ", to_string(entry.sizes), " and type ",
            to_string(entry.dtype), " (want ", to_string(sizes), " and ", to_string(dtype_of<T>()),
            "), build the object as it was when it was saved");
    asked_.insert(name);
    return entry;
  }
  template <class T>
  void read(const std::string& name, const Sizes& sizes, std::span<T> x) {
    const TensorEntry& entry = entry_of<T>(name, sizes);
    if (is_reading()) copy_as(entry, x);
  }
  void visit(const std::string& name, const Sizes& sizes, std::span<float> x) override {
    read(name, sizes, x);
  }
  void visit(const std::string& name, const Sizes& sizes, std::span<double> x) override {
    read(name, sizes, x);
  }
  void visit(const std::string& name, const Sizes& sizes, std::span<index_t> x) override {
    read(name, sizes, x);
  }
  void visit(const std::string& name, const Sizes& sizes, std::span<std::uint8_t> x) override {
    read(name, sizes, x);
  }
  index_t written_number(const std::string& name) override {
    index_t number = 0;
    copy_as(entry_of<index_t>(name, {}), std::span(&number, 1));
    return number;
  }
  void check_option(const std::string& name, double here) override {
    double written = 0;
    copy_as(entry_of<double>(name, {}), std::span(&written, 1));
    require(written == here, "gpunet::io::Checkpoint: ", path_, " has the option ", name, " = ",
            written, " (here it is ", here, "), construct the object with the options that it had");
  }
  bool was_written(const std::string& name) const override { return entries_.contains(name); }

  std::string path_;
  std::map<std::string, const TensorEntry*, std::less<>> entries_;
  std::set<std::string, std::less<>> asked_;
};

// Has `visit` check all of the file, then set all. Where setting ends with an error, as for lack of
// memory, all objects get their old values again; the memory of the file is released for that.
template <class Reader, class File, class Visit>
void read_state(Reader& reader, std::optional<File>& file, const Visit& visit) {
  visit(reader);
  StateWriter before;
  visit(before);
  reader.begin_reading();
  gpunet::detail::attempt([&] { visit(reader); },
                          [&] {
                            file.reset();
                            StateReader undo(before);
                            visit(undo);
                            gpunet::detail::rethrow();
                          });
}

}  // namespace detail

GPUNET_INLINE Checkpoint::Checkpoint(std::string path, const CheckpointOptions& options)
    : path_(std::move(path)), options_(options) {
  constexpr int most = 1000;
  require(!path_.empty(), "gpunet::io::Checkpoint: a file whose path is empty, give its name");
  const std::string name = path_.substr(path_.rfind('/') + 1),
                    stem = name.substr(0, name.find('.', 1));
  const std::size_t number = name.find_last_not_of("0123456789");  // of an earlier file, PATH.1
  require(format_of(name) == Format::safetensors ||
              format_of(name.substr(0, number)) == Format::safetensors,
          "gpunet::io::Checkpoint: ", path_,
          " (a checkpoint is a safetensors file, which torch.load does not read), name it ", stem,
          ".safetensors");
  require(1 <= options.keep_last && options.keep_last <= most, "gpunet::io::Checkpoint: keep_last ",
          options.keep_last, " (want 1, the newest file alone, to ", most, ")");
  add("default_generator", default_generator());
}

GPUNET_INLINE Checkpoint& Checkpoint::add(std::string_view name, std::string& x) {
  return add_visit(name,
                   [&x, name = std::string(name)](StateVisitor& state) { state.bytes(name, x); });
}

GPUNET_INLINE Checkpoint& Checkpoint::add(std::string_view name, std::vector<std::string>& x) {
  return add_visit(name,
                   [&x, name = std::string(name)](StateVisitor& state) { state.strings(name, x); });
}

GPUNET_INLINE Checkpoint& Checkpoint::add_visit(std::string_view name, Visit visit) {
  const auto is_here = [&](const auto& object) {
    return object.first == name;
  };
  require(!name.empty() && std::none_of(objects_.begin(), objects_.end(), is_here),
          "gpunet::io::Checkpoint::add: '", name,
          "' is empty or the name of another object, give each a name of its own");
  objects_.emplace_back(name, std::move(visit));
  return *this;
}

GPUNET_INLINE void Checkpoint::save() const {
  detail::StateWriter writer;
  for (const auto& [name, visit] : objects_)
    visit(writer);
  writer.metadata["gpunet_checkpoint"] = detail::checkpoint_version;
  write_safetensors(path_, writer.entries, writer.metadata, options_.keep_last);
}

GPUNET_INLINE bool Checkpoint::load() const {
  if (!exists(path_)) {
    // After a crash where files can have only one name: see AtomicFile::commit.
    const std::string before = earlier_name(path_, 1);
    require(!exists(before), "gpunet::io::Checkpoint: there is no ", path_, " but one before it, ",
            before, " (a training would begin anew and replace it), rename it to ", path_,
            ", or remove it");
    return false;
  }
  // All of it in memory: objects are not half read if the disk fails.
  std::optional<SafetensorsFile> file(SafetensorsFile::read(path_));
  detail::StateReader reader(*file);
  detail::read_state(reader, file, [&](StateVisitor& state) {
    for (const auto& [name, visit] : objects_)
      visit(state);
  });
  return true;
}

}  // namespace gpunet::io
