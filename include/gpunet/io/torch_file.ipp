// Bodies of torch_file.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/mapped_file.hpp>
#include <gpunet/io/pickle.hpp>
#include <gpunet/io/torch_file.hpp>
#include <gpunet/io/torch_tree.hpp>
#include <gpunet/io/torch_types.hpp>
#include <gpunet/io/zip.hpp>

namespace gpunet::io {

namespace detail {

GPUNET_INLINE std::size_t torch_magic_size(std::string_view text) {
  constexpr std::string_view number("\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.", 13),
      frame("\x95\r\0\0\0\0\0\0\0", 9), of_protocol_0 = "L119547037146038801333356L\n.";
  if (text.starts_with(of_protocol_0)) return of_protocol_0.size();
  if (text.size() < 2 || text[0] != '\x80') return 0;
  const std::size_t begin = text.substr(2).starts_with(frame) ? 2 + frame.size() : 2;
  return text.substr(begin).starts_with(number) ? begin + number.size() : 0;
}

GPUNET_INLINE void check_unique_names(const std::vector<TensorEntry>& entries,
                                      const std::string& place) {
  const TensorEntry* before = nullptr;
  for (const TensorEntry* entry : sorted(entries, name_is_less)) {
    if (!entry->problem.empty()) continue;
    require(!before || before->name != entry->name, place, ": two tensors have the name \"",
            printable(entry->name), "\" (it is ambiguous which one counts), rename one");
    before = entry;
  }
}

GPUNET_INLINE const ZipMember* find_torch_pickle(const ZipArchive& archive) {
  const ZipMember* main = nullptr;
  for (const ZipMember& member : archive.members())
    if (member.name.ends_with("/data.pkl") &&
        std::count(member.name.begin(), member.name.end(), '/') == 1) {
      require(
          !main, archive.place(),
          ": several data.pkl in one archive (it is ambiguous which one counts), save it again");
      main = &member;
    }
  return main;
}

GPUNET_INLINE bool is_torch_script(const ZipArchive& archive) {
  return std::any_of(archive.members().begin(), archive.members().end(),
                     [](const ZipMember& member) {
                       const std::size_t slash = member.name.find('/');
                       const std::string_view name =
                           slash == std::string_view::npos ? "" : member.name.substr(slash + 1);
                       return name == "constants.pkl" || name == "model.json";
                     });
}

// Returns the storages that persistent values of a pickle name, without their bytes.
GPUNET_INLINE TorchStorages wanted_storages(const Pickle& pickle, const TorchTree& tree) {
  TorchStorages storages;
  for (const PickleValue& value : pickle.values)
    if (value.kind == PickleValue::Kind::persistent) {
      const TorchStorageId id = tree.storage_id(value);
      TorchStorage& storage = storages.by_key[id.key];
      storage.wanted = tree.byte_size(value, id);
      storage.numel = id.numel;
    }
  return storages;
}

// The tensors of a file, and memory for bytes that are not as in the file.
struct TorchContents {
  std::vector<TensorEntry> entries;
  std::shared_ptr<const OwnBytes> own;
};

// Reads the format since PyTorch 1.6: a zip archive with the files NAME/data.pkl, NAME/data/KEY and
// some texts.
GPUNET_INLINE TorchContents read_torch_archive(std::span<const std::byte> bytes,
                                               const std::string& path, bool numbers) {
  const ZipArchive archive(bytes, path);
  require(
      !is_torch_script(archive), archive.place(),
      ": a TorchScript program (gpunet reads tensors, not code), save its state_dict in Python: "
      "torch.save(torch.jit.load(path).state_dict(), new_path)");
  const ZipMember* main = find_torch_pickle(archive);
  require(main, archive.place(),
          ": a zip archive without data.pkl (no file of torch.save), give another");
  const std::string folder(main->name.substr(0, main->name.find('/') + 1));
  const auto own = std::make_shared<OwnBytes>();
  TorchMembers members(archive, bytes.size(), *own);

  ByteReader reader(members.bytes(*main), concat(archive.place(), ", data.pkl"), main->data);
  // Limits memory: at most one value per byte of the archive, whether its members are stored or
  // compressed.
  const Pickle pickle = read_pickle(reader, torch_globals, bytes.size());
  if (reader.left() != 0) reader.fail("more bytes than the pickle has");
  TorchTree tree(pickle, reader.place(), bytes.size(), numbers);
  tree.refuse_whole_object();
  TorchStorages storages = wanted_storages(pickle, tree);
  storages.own = own;
  if (const ZipMember* order = archive.find(folder + "byteorder")) {
    const std::string_view name = as_text(members.bytes(*order));
    require(name == "little" || name == "big", archive.place(), ", byte ", order->data,
            ": the byte order is neither little nor big (it is damaged), fetch or save it again");
    storages.big_endian = name == "big";
  }
  const std::string data = folder + "data/";
  for (const ZipMember& member : archive.members()) {
    if (!member.name.starts_with(data)) continue;
    const auto found = storages.by_key.find(member.name.substr(data.size()));
    if (found == storages.by_key.end()) continue;
    require(member.method == zip::stored || member.size == found->second.wanted, archive.place(),
            ", byte ", member.begin, ": \"", printable(member.name), "\" has ", member.size,
            " bytes (want ", found->second.wanted,
            ": its tensors have as many), fetch or save it again");
    found->second.bytes = members.bytes(member);
    found->second.is_there = true;
  }
  return {tree.entries(storages), own};
}

// Reads the format before that: pickles of a magic number, a version, the machine, the object and a
// list of storage keys; then for each key the number of elements in 8 bytes, and the elements.
// Little-endian, on any machine.
GPUNET_INLINE TorchContents read_torch_legacy(std::span<const std::byte> bytes,
                                              const std::string& path, bool numbers) {
  ByteReader reader(bytes, concat("gpunet::io: ", path));
  reader.take(torch_magic_size(as_text(bytes)), "the magic number");
  const Pickle version = read_pickle(reader, {});
  if (version[version.root].integer != 1001)
    reader.fail("another version of the old format than 1001");
  read_pickle(reader, {});  // the machine
  const Pickle pickle = read_pickle(reader, torch_globals);
  TorchTree tree(pickle, reader.place(), bytes.size(), numbers);
  tree.refuse_whole_object();

  TorchStorages storages = wanted_storages(pickle, tree);
  const Pickle keys = read_pickle(reader, {});
  for (const std::uint32_t i : keys[keys.root].items) {
    const auto found = storages.by_key.find(keys[i].text);
    if (found == storages.by_key.end() || found->second.is_there)
      reader.fail(concat("the data of the storage \"", printable(keys[i].text),
                         "\", which no tensor wants"));
    TorchStorage& storage = found->second;
    if (const auto numel = reader.number<std::int64_t>("a number of elements");
        numel != storage.numel)
      reader.back(8), reader.fail(concat(numel, " elements in a storage of ", storage.numel));
    storage.bytes = reader.take(storage.wanted, "a storage");
    storage.is_there = true;
  }
  if (reader.left() != 0) reader.fail(concat(reader.left(), " bytes more than wanted"));
  return {tree.entries(storages), storages.own};
}

}  // namespace detail

GPUNET_INLINE TorchFile TorchFile::read(const std::string& path, const ReadOptions& options) {
  return read(path, std::make_shared<const FileBytes>(path, options.map), options);
}

GPUNET_INLINE TorchFile TorchFile::read(const std::string& path,
                                        std::shared_ptr<const FileBytes> contents,
                                        const ReadOptions& options) {
  const std::string_view text = detail::as_text(contents->bytes());
  detail::TorchContents found;
  if (text.starts_with("PK"))
    found = detail::read_torch_archive(contents->bytes(), path, options.numbers);
  else if (detail::torch_magic_size(text) > 0)
    found = detail::read_torch_legacy(contents->bytes(), path, options.numbers);
  else
    throw_error(Error(
        concat("gpunet::io: ", path,
               ", byte 0: no file of torch.save begins like this (it is damaged, or something "
               "else), fetch it again or save it with torch.save(net.state_dict(), path)")));
  detail::check_unique_names(found.entries, concat("gpunet::io: ", path));
  TorchFile file(path);
  for (TensorEntry& entry : found.entries)
    file.add(std::move(entry));
  file.owner_ = std::make_shared<
      const std::pair<std::shared_ptr<const FileBytes>, std::shared_ptr<const detail::OwnBytes>>>(
      std::move(contents), std::move(found.own));
  return file;
}

namespace detail {

// Writes the call that rebuilds the tensor whose storage is the file data/KEY.
GPUNET_INLINE void write_tensor(PickleWriter& pickle, const TensorEntry& entry,
                                std::string_view key) {
  const std::string_view storage = name_of(torch_storages, entry.dtype),
                         dtype = name_of(torch_dtypes, entry.dtype);
  const bool typed = !storage.empty();
  const index_t numel = typed ? entry.sizes.numel() : byte_count(entry.dtype, entry.sizes);
  pickle.global(typed ? rebuild_tensor_v2 : rebuild_tensor_v3).opcodes("((");
  pickle.string("storage")
      .global(typed ? storage : untyped_storage)
      .string(key)
      .string("cpu")
      .integer(numel);
  pickle.opcodes("tQ")
      .integer(0)
      .tuple(entry.sizes)
      .tuple(packed_strides(entry.sizes))
      .opcodes("\x89");
  pickle.ordered_dict();
  if (!typed) pickle.global(dtype);
  pickle.opcodes("tR");
}

// Writes an archive of a finished pickle, in which entry i is the storage i.
GPUNET_INLINE void write_torch_archive(const std::string& path, const PickleWriter& pickle,
                                       std::span<const TensorEntry> entries) {
  constexpr std::size_t alignment = 64;  // PyTorch's
  AtomicFile file(path);
  ZipWriter archive(file);
  archive.store("archive/data.pkl", pickle.text());
  archive.store("archive/byteorder", "little");
  std::vector<std::byte> copy;
  for (std::size_t i = 0; i < entries.size(); ++i)
    archive.store(concat("archive/data/", i), {}, row_major_bytes(entries[i], copy), alignment);
  archive.store("archive/version", "3\n");
  archive.finish();
  file.commit();
}

}  // namespace detail

GPUNET_INLINE void write_torch(const std::string& path, std::span<const TensorEntry> entries) {
  detail::check_writable(path, entries);
  detail::PickleWriter pickle;
  pickle.ordered_dict().opcodes("(");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const TensorEntry& entry = entries[i];
    require(!detail::name_of(detail::torch_storages, entry.dtype).empty() ||
                !detail::name_of(detail::torch_dtypes, entry.dtype).empty(),
            "gpunet::io: cannot write ", path, ": \"", detail::printable(entry.name),
            "\" has dtype ", to_string(entry.dtype),
            " (PyTorch has none like it), write a .safetensors file");
    detail::write_tensor(pickle.string(entry.name), entry, concat(i));
  }
  pickle.opcodes("u.");

  detail::write_torch_archive(path, pickle, entries);
}

}  // namespace gpunet::io
