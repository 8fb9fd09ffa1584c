// Finds the tensors in the pickle of a PyTorch file, and their storages (the memory that they
// share).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/deflate.hpp>
#include <gpunet/io/dtype.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/pickle.hpp>
#include <gpunet/io/tensor_file.hpp>
#include <gpunet/io/torch_types.hpp>
#include <gpunet/io/zip.hpp>

namespace gpunet::io::detail {

// Bytes that are not as in the file: decompressed, or reordered.
using OwnBytes = std::vector<std::vector<std::byte>>;

// A storage as named in a pickle.
struct TorchStorageId {
  Dtype dtype = Dtype::U8;  // of its elements; U8 if it is untyped
  std::string_view key;
  index_t numel = 0;                  // of the whole storage
  index_t first = 0, view_numel = 0;  // the part of it that is referenced, in elements
};

// A storage of a file.
struct TorchStorage {
  std::span<const std::byte> bytes = {};
  std::size_t wanted = 0;  // bytes, by its persistent id
  index_t numel = 0;       // elements, by its persistent id
  bool is_there = false;
  std::size_t swapped = 0;  // size of the numbers whose bytes were swapped; 0 if not yet
};

// All storages of a file.
struct TorchStorages {
  std::map<std::string_view, TorchStorage> by_key;
  std::shared_ptr<OwnBytes> own = std::make_shared<OwnBytes>();
  bool big_endian = false;
};

// Returns the size in bytes of a number: for complex elements, that of the real or imaginary part.
inline std::size_t number_size(Dtype dtype) {
  const auto size = static_cast<std::size_t>(bits_of(dtype) / 8);
  return dtype == Dtype::C64 || dtype == Dtype::C128 ? size / 2 : size;
}

// Converts big-endian numbers of `size` bytes, once. Returns false if the storage was converted
// with another size.
inline bool swap_bytes(TorchStorage& storage, std::size_t size, OwnBytes& own) {
  if (storage.swapped != 0) return storage.swapped == size;
  storage.swapped = size;
  if (size == 1) return true;
  std::vector<std::byte>& copy = own.emplace_back(storage.bytes.begin(), storage.bytes.end());
  for (std::size_t i = 0; i + size <= copy.size(); i += size)
    std::reverse(copy.begin() + static_cast<std::ptrdiff_t>(i),
                 copy.begin() + static_cast<std::ptrdiff_t>(i + size));
  storage.bytes = copy;
  return true;
}

// Reads members of an archive as torch.load does, stored or compressed. Decompressed data is
// limited to a multiple of the archive's size.
class TorchMembers {
 public:
  TorchMembers(const ZipArchive& archive, std::size_t archive_size, OwnBytes& own)
      : archive_(archive), own_(own), room_(most_expansion_in_all * archive_size + most_more) {}

  std::span<const std::byte> bytes(const ZipMember& member) {
    if (member.method == zip::stored) return archive_.stored_bytes(member);
    const auto fail = [&](const auto&... what) {
      throw_error(Error(concat(archive_.place(), ", byte ", member.data, ": \"",
                               printable(member.name), "\" ", what...)));
    };
    const DeflateCodec* codec = deflate_codec();
    if (!codec)
      fail("is deflated (which needs zlib), ", zlib_advice,
           ", or save the file again with torch.save");
    if (member.size > room_)
      fail("has ", member.size, " bytes unpacked (more than ", most_expansion_in_all,
           " times the file: a zip bomb?), unpack the archive and pack it with zip -0");
    room_ -= static_cast<std::size_t>(member.size);
    std::vector<std::byte> out(static_cast<std::size_t>(member.size));
    if (!read_last(*codec->inflater({member.packed}), out))
      fail("cannot be decompressed (it is damaged), fetch or save it again");
    if (!member.has_sum_of(out))
      fail("has another checksum (its data is damaged), fetch or save it again");
    return own_.emplace_back(std::move(out));
  }

 private:
  static constexpr std::size_t most_expansion_in_all = 64, most_more = 1 << 19;

  const ZipArchive& archive_;
  OwnBytes& own_;
  std::size_t room_;
};

// Finds the tensors, and checks that they are inside their storages. Names are the keys that lead
// to a tensor, joined by dots: "model.conv1.weight", or with indices of lists "state.0.exp_avg".
// Plain data is skipped, but numbers on request. A tensor that gpunet cannot represent becomes an
// entry with a problem, and so does an opaque object. Allocates a small multiple of `file_size`
// bytes, however many names the file gives to one tensor.
class TorchTree {
 public:
  TorchTree(const Pickle& pickle, std::string place, std::size_t file_size, bool numbers)
      : pickle_(pickle),
        place_(std::move(place)),
        room_(most_for_each_byte * file_size + most_more),
        numbers_(numbers) {}

  // Throws Error if the file contains one opaque object and nothing else, such as a whole module.
  void refuse_whole_object() const {
    if (!pickle_[pickle_.root].is_opaque()) return;
    const std::uint32_t global = pickle_.global_of(pickle_.root);
    const std::string name = pickle_.global_name(global);
    fail(
        pickle_[global], concat("a whole object, of the global \"", printable(name), '"'),
        concat(
            "(gpunet reads tensors and plain data, and imports or executes nothing), ",
            name.starts_with("numpy")
                ? "save arrays in Python with numpy.savez(path, **arrays), or torch.save of tensors"
                : "save its state_dict in Python: torch.save(net.state_dict(), path)"));
  }

  std::vector<TensorEntry> entries(TorchStorages& storages) {
    storages_ = &storages;
    states_.assign(pickle_.values.size(), State::unknown);
    steps_ = most_shared;
    for (const PickleValue& value : pickle_.values)
      steps_ += 2 * value.items.size();
    visit(pickle_.root, "", 0);
    return std::move(entries_);
  }

  // Returns the storage of a persistent value ("storage", type, key, device, numel); old files add
  // a view: (key, first, numel). The device is ignored: data is read to the host.
  TorchStorageId storage_id(const PickleValue& value) const {
    const std::vector<std::uint32_t>& parts = pickle_[value.items[0]].items;
    if (pickle_[value.items[0]].kind != Kind::tuple || parts.size() < 5 ||
        pickle_[parts[0]].text != "storage" || pickle_[parts[1]].kind != Kind::global ||
        pickle_[parts[2]].kind != Kind::string)
      fail(value, "a persistent id that is none of a storage");
    TorchStorageId out;
    const std::string_view type = pickle_[parts[1]].text;
    const auto dtype = dtype_named(torch_storages, type);
    if (!dtype && type != untyped_storage)
      fail(value, concat("a storage of type ", printable(pickle_.global_name(parts[1]))));
    out.dtype = dtype.value_or(Dtype::U8);
    out.key = pickle_[parts[2]].text;
    out.numel = out.view_numel = natural(parts[4]);
    if (parts.size() > 5 && pickle_[parts[5]].kind == Kind::tuple) {
      const std::vector<std::uint32_t>& view = pickle_[parts[5]].items;
      if (view.size() != 3) fail(value, "a view of a storage that is no (key, offset, size)");
      out.first = natural(view[1]);
      out.view_numel = natural(view[2]);
      if (out.first > out.numel || out.view_numel > out.numel - out.first)
        fail(value, "a view that exceeds its storage");
    }
    return out;
  }

  // Returns the number of bytes of the storage. Throws Error if it overflows.
  std::size_t byte_size(const PickleValue& value, const TorchStorageId& id) const {
    const index_t bytes = byte_count(id.dtype, {id.numel});
    if (bytes < 0) fail(value, concat("a storage of ", id.numel, " elements"));
    return static_cast<std::size_t>(bytes);
  }

 private:
  using Kind = PickleValue::Kind;
  enum class State : unsigned char { unknown, entered, without_tensors, with_tensors };
  static constexpr int deepest = 64;
  static constexpr std::size_t longest_name = 1000;
  static constexpr std::size_t most_shared =
      1000;  // extra steps for shared values, beside twice the number of all items
  // The most bytes of entries with their names, per byte of the file. Files of small tensors need a
  // third of this.
  static constexpr std::size_t most_for_each_byte = 16, most_more = 1 << 20;
  static constexpr std::size_t most_opaque = 1000;  // entries; further ones are omitted

  static constexpr std::string_view too_much =
      "(more than gpunet reads), save the state_dict by itself";

  std::string message(const PickleValue& value, std::string_view what,
                      std::string_view advice) const {
    return concat(place_, ", byte ", value.byte, ": ", what, ' ', advice);
  }
  template <class Exception = Error>
  [[noreturn]] void fail(
      const PickleValue& value, std::string_view what,
      std::string_view advice = "(the file is damaged), fetch or save it again") const {
    throw_error(Exception(message(value, what, advice)));
  }

  index_t natural(std::uint32_t i) const {
    const PickleValue& value = pickle_[i];
    if (value.kind != Kind::integer || value.integer < 0) fail(value, "expected a natural number");
    return value.integer;
  }

  void visit(std::uint32_t i, const std::string& name, int depth) {
    const PickleValue& value = pickle_[i];
    if (value.is_opaque()) return add_opaque(i, name);
    if (is_number(value)) return add_number(value, name);
    if (value.kind == Kind::call) return visit_call(value, name, depth);
    const bool is_dict = value.kind == Kind::dict;
    if (!is_dict && value.kind != Kind::list && value.kind != Kind::tuple) return;
    State& state = states_[i];
    if (state == State::without_tensors) return;
    if (state == State::entered)
      fail(value, concat("\"", printable(name), "\" is inside itself"), too_much);
    if (depth == deepest)
      fail(value, concat("more than ", deepest, " values inside each other"), too_much);
    state = State::entered;
    const std::size_t before = entries_.size();
    for (std::size_t k = 0; k < value.items.size(); k += is_dict ? 2 : 1) {
      if (steps_-- == 0) fail(value, "the same values in too many places", too_much);
      const std::uint32_t item = value.items[is_dict ? k + 1 : k];
      if (!may_give_entries(pickle_[item])) continue;
      const bool has_key = !is_dict || is_key(pickle_[value.items[k]]);
      const std::string key = !has_key  ? "?"
                              : is_dict ? key_text(pickle_[value.items[k]])
                                        : concat(k);
      if (name.size() + key.size() > longest_name)
        fail(value, concat("a name longer than ", longest_name, " bytes"), too_much);
      const std::size_t first = entries_.size();
      visit(item, name.empty() ? key : concat(name, ".", key), depth + 1);
      if (!has_key)
        for (std::size_t n = first; n < entries_.size(); ++n)
          entries_[n].problem =
              message(pickle_[value.items[k]], "a key that is neither a text nor an integer",
                      "(gpunet knows tensors by their names), save it under a text");
    }
    state = entries_.size() == before ? State::without_tensors : State::with_tensors;
  }

  bool may_give_entries(const PickleValue& value) const {
    return value.kind == Kind::call || value.kind == Kind::dict || value.kind == Kind::list ||
           value.kind == Kind::tuple || is_number(value) ||
           (value.is_opaque() && opaque_ < most_opaque);
  }
  bool is_number(const PickleValue& value) const {
    return numbers_ &&
           (value.kind == Kind::integer || value.kind == Kind::real || value.kind == Kind::boolean);
  }

  void add(const PickleValue& value, TensorEntry entry) {
    const std::size_t size = sizeof entry + entry.name.size() + entry.problem.size();
    if (size > room_) fail(value, "the same tensors under too many names", too_much);
    room_ -= size;
    entries_.push_back(std::move(entry));
  }

  void add_number(const PickleValue& value, const std::string& name) {
    const bool real = value.kind == Kind::real;
    const auto bits = std::bit_cast<std::array<std::byte, 8>>(
        real ? std::bit_cast<std::int64_t>(value.real) : value.integer);
    add(value, {.name = name,
                .dtype = real ? Dtype::F64 : Dtype::I64,
                .bytes = storages_->own->emplace_back(bits.begin(), bits.end())});
  }

  void add_opaque(std::uint32_t i, const std::string& name) {
    if (opaque_ == most_opaque) return;
    ++opaque_;
    const std::string global = pickle_.global_name(i);
    const std::string_view what =
        pickle_[i].kind == Kind::global ? "the class or function" : "an object made by";
    add(pickle_[i],
        {.name = name,
         .sizes = {0},
         .problem = message(
             pickle_[i],
             concat('"', printable(name), "\" is ", what, " \"", printable(global), '"'),
             concat("(gpunet reads tensors and plain data, and imports or executes nothing), save ",
                    global.starts_with("numpy") ? "a tensor (torch.from_numpy) or a number (float)"
                                                : "its state_dict() or a dict of plain data")),
         .opaque = true});
  }

  static bool is_key(const PickleValue& key) {
    return key.kind == Kind::integer || (key.kind == Kind::string && is_utf8(key.text));
  }
  std::string key_text(const PickleValue& key) const {
    if (key.kind == Kind::integer) return concat(key.integer);
    if (key.text.size() > longest_name)
      fail(key, concat("a name longer than ", longest_name, " bytes"), too_much);
    return std::string(key.text);
  }

  void visit_call(const PickleValue& value, const std::string& name, int depth) {
    gpunet::detail::attempt<Unreadable>(
        [&] { rebuild(value, value.text, value.items[0], name, depth); },
        [&](const Unreadable& error) {
          add(value, {.name = name, .sizes = {0}, .problem = error.what()});
        });
  }

  // Adds the result of a call, if that is a tensor.
  void rebuild(const PickleValue& value, std::string_view function, std::uint32_t tuple,
               const std::string& name, int depth) {
    const std::vector<std::uint32_t>& arguments = pickle_[tuple].items;
    if (function == rebuild_parameter ||
        function == rebuild_parameter_with_state) {  // (tensor, requires_grad, ...)
      if (arguments.empty() || depth == deepest) fail(value, "a parameter without a tensor");
      return visit(arguments[0], name, depth + 1);
    }
    if (function == rebuild_from_type) {  // (function, type, arguments, attributes)
      if (arguments.size() < 3 || pickle_[arguments[2]].kind != Kind::tuple || depth == deepest)
        fail(value, "a tensor with attributes that has other arguments");
      if (pickle_[arguments[0]].is_opaque()) return add_opaque(arguments[0], name);
      return rebuild(value, pickle_[arguments[0]].text, arguments[2], name, depth + 1);
    }
    if (function == rebuild_tensor) return add_tensor(value, name, arguments, 4);
    if (function == rebuild_tensor_v2) return add_tensor(value, name, arguments, 6);
    if (function == rebuild_tensor_v3) return add_tensor(value, name, arguments, 7);
    for (const TorchOddity& oddity : torch_oddities)
      if (function == oddity.function)
        fail<Unreadable>(value, concat("the tensor \"", printable(name), "\" ", oddity.what),
                         oddity.advice);
  }

  // Arguments: storage, first element, sizes, strides, requires_grad, hooks, in v3 also the dtype;
  // then metadata.
  void add_tensor(const PickleValue& value, const std::string& name,
                  const std::vector<std::uint32_t>& arguments, std::size_t wanted) {
    const auto wrong = [&](std::string_view what) {
      fail(value, concat("the tensor \"", printable(name), "\" ", what));
    };
    const auto unreadable = [&](std::string_view what, std::string_view advice) {
      fail<Unreadable>(value, concat("the tensor \"", printable(name), "\" ", what), advice);
    };
    if (arguments.size() < wanted || pickle_[arguments[0]].kind != Kind::persistent)
      wrong("has other arguments");
    if (arguments.size() > wanted) {
      const PickleValue& metadata = pickle_[arguments[wanted]];
      if (metadata.kind != Kind::none && !metadata.items.empty())
        unreadable("is conjugated or negated",
                   "(in its storage are other numbers), save .resolve_conj().resolve_neg()");
    }
    const TorchStorageId id = storage_id(pickle_[arguments[0]]);
    const auto found = storages_->by_key.find(id.key);
    if (found == storages_->by_key.end() || !found->second.is_there)
      wrong(concat("has the storage \"", printable(id.key), "\", which is not there"));
    TorchStorage& storage = found->second;
    std::span<const std::byte> stored = storage.bytes;
    if (stored.size() != byte_size(pickle_[arguments[0]], id))
      wrong(concat("wants a storage of ", id.numel, " elements, which has ", stored.size(),
                   " bytes"));

    TensorEntry entry{.name = name, .dtype = id.dtype};
    if (wanted == 7) {
      const auto dtype = dtype_named(torch_dtypes, pickle_[arguments[6]].text);
      if (!dtype)
        unreadable(concat("has the dtype \"", printable(pickle_[arguments[6]].text), "\""),
                   "(gpunet has none like it), save .float()");
      entry.dtype = *dtype;
    }
    const index_t size = bits_of(entry.dtype) / 8, stored_size = bits_of(id.dtype) / 8;
    const index_t numel = id.view_numel * stored_size / size, first = natural(arguments[1]);
    if (const auto rank = tuple_of(arguments[2]).items.size(); rank > Sizes::max_rank)
      unreadable(
          concat("has ", rank, " dimensions"),
          concat("(gpunet handles at most ", Sizes::max_rank, "), reshape it before saving"));
    entry.sizes = read_sizes(arguments[2]);
    entry.strides = read_sizes(arguments[3]);
    if (entry.strides.rank() != entry.sizes.rank()) wrong("does not have one stride per dimension");
    if (byte_count(entry.dtype, entry.sizes) < 0)
      wrong(concat("of shape ", to_string(entry.sizes), " is too large"));

    const index_t count = reach(entry.sizes, entry.strides);
    if (count != 0 && (count < 0 || first > numel || count > numel - first))
      wrong(concat("of shape ", to_string(entry.sizes), " and strides ", to_string(entry.strides),
                   " exceeds its storage of ", numel, " elements"));
    if (storages_->big_endian && !swap_bytes(storage, number_size(entry.dtype), *storages_->own))
      unreadable("shares a big-endian storage with a tensor of another type",
                 "(only one of them can be put in order), save .clone()");
    stored = storage.bytes;
    if (count != 0)
      entry.bytes = stored.subspan(static_cast<std::size_t>(id.first * stored_size + first * size),
                                   static_cast<std::size_t>(count * size));
    if (same_order(entry.sizes, entry.strides, packed_strides(entry.sizes))) entry.strides = {};
    add(value, std::move(entry));
  }

  // Returns the tuple of a shape or of strides, plain or in a torch.Size.
  const PickleValue& tuple_of(std::uint32_t i) const {
    const PickleValue* value = &pickle_[i];
    if (value->kind == Kind::call && value->text == "torch.Size" &&
        !pickle_[value->items[0]].items.empty())
      value = &pickle_[pickle_[value->items[0]].items[0]];
    if (value->kind != Kind::tuple) fail(*value, "expected a shape");
    return *value;
  }
  Sizes read_sizes(std::uint32_t i) const {
    const PickleValue& value = tuple_of(i);
    Sizes out;
    if (value.items.size() > Sizes::max_rank) fail(value, concat(value.items.size(), " strides"));
    for (const std::uint32_t extent : value.items)
      out.append(natural(extent));
    return out;
  }

  const Pickle& pickle_;
  std::string place_;
  TorchStorages* storages_ = nullptr;
  std::vector<State> states_;  // by value
  std::size_t steps_ = 0;      // that are left
  std::size_t room_;           // bytes of entries that are left
  bool numbers_;               // whether numbers are entries
  std::size_t opaque_ = 0;     // entries
  std::vector<TensorEntry> entries_;
};

}  // namespace gpunet::io::detail
