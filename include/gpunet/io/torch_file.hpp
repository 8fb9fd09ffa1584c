// Files of torch.save, read: a pickle that says what there is, and the bytes of the storages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/byte_reader.hpp>
#include <gpunet/io/mapped_file.hpp>
#include <gpunet/io/pickle.hpp>
#include <gpunet/io/tensor_file.hpp>
#include <gpunet/io/torch_tree.hpp>
#include <gpunet/io/torch_types.hpp>
#include <gpunet/io/zip.hpp>

namespace gpunet::io {

namespace detail {

// How the old format begins: the pickles of its magic number and of its version, 1001.
inline constexpr std::string_view torch_magic("\x80\2\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\2M\xe9\3.", 21);

inline void check_unique_names(const std::vector<TensorEntry>& entries, const std::string& place) {
  const TensorEntry* before = nullptr;
  for (const TensorEntry* entry : sorted(entries, name_is_less)) {
    if (!entry->problem.empty()) continue;
    require(!before || before->name != entry->name, place, ": two tensors have the name \"", printable(entry->name),
            "\" (nobody can tell which counts), rename one");
    before = entry;
  }
}

// The pickle of an archive that torch.save wrote; null in any other.
inline const ZipMember* find_torch_pickle(const ZipArchive& archive) {
  const ZipMember* main = nullptr;
  for (const ZipMember& member : archive.members())
    if (member.name.ends_with("/data.pkl") && std::count(member.name.begin(), member.name.end(), '/') == 1) {
      require(!main, archive.place(),
              ": several data.pkl in one archive (nobody can tell which counts), save it again");
      main = &member;
    }
  return main;
}

// The format since PyTorch 1.6: a zip archive with the files NAME/data.pkl, NAME/data/KEY and some texts.
inline std::vector<TensorEntry> read_torch_archive(std::span<const std::byte> bytes, const std::string& path) {
  const ZipArchive archive(bytes, path);
  const ZipMember* main = find_torch_pickle(archive);
  require(main, archive.place(), ": a zip archive without data.pkl (no file of torch.save), give another");
  const std::string folder(main->name.substr(0, main->name.find('/') + 1));
  require(!archive.find(folder + "constants.pkl"), archive.place(),
          ": a TorchScript program (gpunet reads tensors, not code), save its state_dict in Python: "
          "torch.save(torch.jit.load(path).state_dict(), new_path)");
  if (const ZipMember* order = archive.find(folder + "byteorder"))
    require(as_text(archive.stored_bytes(*order)) == "little", archive.place(), ", byte ", order->data,
            ": numbers of another byte order than little (gpunet reads no other), save it on another machine");

  ByteReader reader(archive.stored_bytes(*main), concat(archive.place(), ", data.pkl"), main->data);
  const Pickle pickle = PickleReader(reader, torch_globals).read();
  if (reader.left() != 0) reader.fail("more bytes than the pickle has");
  TorchStorages storages;
  const std::string data = folder + "data/";
  for (const ZipMember& member : archive.members())
    if (member.name.starts_with(data)) {
      TorchStorage& storage = storages[member.name.substr(data.size())];
      storage.bytes = archive.stored_bytes(member);
      storage.is_there = true;
    }
  return TorchTree(pickle, reader.place()).entries(storages);
}

// The format before that: pickles of a magic number, a version, the machine, the object and a list of storage keys;
// then for each key the number of elements in 8 bytes, and the elements.
inline std::vector<TensorEntry> read_torch_legacy(std::span<const std::byte> bytes, const std::string& path) {
  ByteReader reader(bytes, concat("gpunet::io: ", path));
  reader.take(torch_magic.size(), "the magic number");
  const Pickle machine = PickleReader(reader, {}).read();
  const PickleValue& facts = machine[machine.root];
  for (std::size_t i = 0; facts.kind == PickleValue::Kind::dict && i < facts.items.size(); i += 2)
    if (machine[facts.items[i]].text == "little_endian" && machine[facts.items[i + 1]].integer != 1)
      reader.fail("numbers of another byte order than little",
                  "(gpunet reads no other), save it on another machine");
  const Pickle pickle = PickleReader(reader, torch_globals).read();
  TorchTree tree(pickle, reader.place());

  TorchStorages storages;
  for (const PickleValue& value : pickle.values)
    if (value.kind == PickleValue::Kind::persistent) {
      const TorchStorageId id = tree.storage_id(value);
      TorchStorage& storage = storages[id.key];
      storage.wanted = tree.byte_size(value, id);
      storage.numel = id.numel;
    }
  const Pickle keys = PickleReader(reader, {}).read();
  for (const std::uint32_t i : keys[keys.root].items) {
    const auto found = storages.find(keys[i].text);
    if (found == storages.end() || found->second.is_there)
      reader.fail(concat("the data of the storage \"", printable(keys[i].text), "\", which no tensor wants"));
    TorchStorage& storage = found->second;
    if (const auto numel = reader.number<std::int64_t>("a number of elements"); numel != storage.numel)
      reader.back(8), reader.fail(concat(numel, " elements in a storage of ", storage.numel));
    storage.bytes = reader.take(storage.wanted, "a storage");
    storage.is_there = true;
  }
  if (reader.left() != 0) reader.fail(concat(reader.left(), " bytes more than wanted"));
  return tree.entries(storages);
}

}  // namespace detail

// A file that torch.save wrote (.pth, .pt), of any version since 0.4: a state_dict, a checkpoint
// with state_dicts inside, a list of tensors. Its pickle is read as data; nothing that it names is executed. All that
// it says about tensors is checked when it is read, and the check sums of its data where it has them.
class TorchFile : public TensorFile {
 public:
  // Throws Error naming the path, and the byte where there is one.
  static TorchFile read(const std::string& path, const ReadOptions& options = {}) {
    return read(path, std::make_shared<const FileBytes>(path, options.map));
  }
  // The same of bytes that are in memory already.
  static TorchFile read(const std::string& path, std::shared_ptr<const FileBytes> contents) {
    const std::string_view text = detail::as_text(contents->bytes());
    TorchFile file(path);
    if (text.starts_with("PK"))
      file.entries_ = detail::read_torch_archive(contents->bytes(), path);
    else if (text.starts_with(detail::torch_magic))
      file.entries_ = detail::read_torch_legacy(contents->bytes(), path);
    else
      throw Error(
          concat("gpunet::io: ", path,
                 ", byte 0: no file of torch.save begins like this (it is damaged, or something else), fetch "
                 "it again or save it with torch.save(net.state_dict(), path)"));
    detail::check_unique_names(file.entries_, concat("gpunet::io: ", path));
    file.owner_ = std::move(contents);
    return file;
  }

 private:
  using TensorFile::TensorFile;
};

}  // namespace gpunet::io
