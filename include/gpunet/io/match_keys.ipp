// Bodies of match_keys.hpp.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/io/dtype.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/match_keys.hpp>

namespace gpunet::io {

namespace detail {

// An entry of a file, with its name in the network.
struct NamedEntry {
  std::string name;
  const TensorEntry* entry = nullptr;
};

GPUNET_INLINE std::string shown(std::string_view name) {
  return name.empty() ? "(an array without a name)" : printable(name);
}

// Returns the part of a name before its first dot.
GPUNET_INLINE std::string_view first_key(std::string_view name) {
  return name.substr(0, name.find('.'));
}

// Returns the entries that the options select, in the order of the file. Throws Error if no entry
// has the key or the prefix.
GPUNET_INLINE std::vector<NamedEntry> select_entries(const TensorFile& file,
                                                     const LoadOptions& options) {
  std::vector<NamedEntry> out;
  const std::string below = options.key.empty() ? "" : options.key + ".";
  bool has_prefix = false;
  for (const TensorEntry& entry : file.entries()) {
    std::string_view name = entry.name;
    if (!name.starts_with(below)) continue;
    name.remove_prefix(below.size());
    if (name.starts_with(options.prefix)) {
      name.remove_prefix(options.prefix.size());
      has_prefix = true;
    }
    out.push_back({options.rename ? options.rename(std::string(name)) : std::string(name), &entry});
  }
  if (!has_prefix && !out.empty()) {
    std::vector<std::string_view> names;
    for (const NamedEntry& named : out)
      names.push_back(std::string_view(named.entry->name).substr(below.size()));
    throw_error(Error(concat("gpunet::io::load: no name in ", file.path(),
                             " begins with the prefix \"", printable(options.prefix),
                             "\" (available: ", gpunet::detail::short_list(names, shown),
                             "), give the one that these have, or none")));
  }
  if (!out.empty() || below.empty()) return out;

  std::set<std::string_view> keys;
  for (const TensorEntry& entry : file.entries()) {
    require(entry.name != options.key || entry.problem.empty(), "gpunet::io::load: the key \"",
            printable(options.key), "\" could not be read: ", entry.problem);
    keys.insert(first_key(entry.name));
  }
  throw_error(Error(concat(
      "gpunet::io::load: ", file.path(), " has no tensors under the key \"", printable(options.key),
      "\" (available: ", gpunet::detail::short_list(keys, shown), "), give one of these")));
}

// Returns whether an entry has the shape of an array. As in PyTorch, shape [1] matches a scalar.
GPUNET_INLINE bool fits(const TensorEntry& entry, const Sizes& sizes) {
  return entry.sizes == sizes || (sizes.rank() == 0 && entry.sizes == Sizes{1});
}

// Finds the entries for arrays. Each entry is used once.
class EntryFinder {
 public:
  EntryFinder(const TensorFile& file, const LoadOptions& options)
      : entries_(select_entries(file, options)), used_(entries_.size()), match_(options.match) {
    // Opaque objects are matched by name, but not by position.
    tensors_ = static_cast<std::size_t>(
        std::stable_partition(entries_.begin(), entries_.end(),
                              [](const NamedEntry& e) { return !e.entry->opaque; }) -
        entries_.begin());
    require(match_ == Matching::by_name || file.in_saved_order(), "gpunet::io::load: ", file.path(),
            " has its tensors in the order of their names (as all safetensors files have), so they "
            "cannot be loaded by_order: load them by name, with .rename where names differ");
    for (std::size_t i = 0; i < entries_.size(); ++i)
      by_name_.emplace(entries_[i].name, i);
  }

  // Returns the entry for the array at position i of in_order(); null if there is none.
  const TensorEntry* find(std::size_t i, const std::string& name) {
    if (match_ == Matching::by_name) {
      const auto at = by_name_.find(name);
      i = at == by_name_.end() ? entries_.size() : at->second;
    } else if (i >= tensors_) {
      return nullptr;
    }
    if (i >= entries_.size() || used_[i]) return nullptr;
    used_[i] = true;
    return entries_[i].entry;
  }

  // Returns the names of readable entries that no array uses.
  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (!used_[i] && entries_[i].entry->problem.empty()) names.push_back(entries_[i].name);
    std::sort(names.begin(), names.end());
    return names;
  }

  // Returns an unreadable entry that no array uses; null if there is none.
  const NamedEntry* unused_problem() const {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (!used_[i] && !entries_[i].entry->problem.empty()) return &entries_[i];
    return nullptr;
  }

  // Returns the arrays that are matched by position: all, or all but the counters if the file has
  // exactly that many.
  template <class T>
  std::vector<const NamedArray<T>*> in_order(const std::vector<NamedArray<T>>& arrays) const {
    std::vector<const NamedArray<T>*> all, numbers;
    for (const NamedArray<T>& array : arrays) {
      all.push_back(&array);
      if (!array.count) numbers.push_back(&array);
    }
    return tensors_ == numbers.size() ? numbers : all;
  }

  // Returns whether each of them has the shape of the entry at its position.
  template <class T>
  bool fit_in_order(const std::vector<NamedArray<T>>& arrays) const {
    const std::vector<const NamedArray<T>*> placed = in_order(arrays);
    return std::equal(placed.begin(), placed.end(), entries_.begin(),
                      entries_.begin() + static_cast<std::ptrdiff_t>(tensors_),
                      [](const NamedArray<T>* array, const NamedEntry& named) {
                        return fits(*named.entry, array->sizes);
                      });
  }

 private:
  std::vector<NamedEntry> entries_;  // tensors, then opaque ones
  std::size_t tensors_ = 0;
  std::vector<bool> used_;
  std::map<std::string_view, std::size_t> by_name_;
  Matching match_;
};

// Returns the key under which the file has all these names; empty if there is none.
GPUNET_INLINE std::string key_of(const std::vector<std::string>& names, const TensorFile& file) {
  std::set<std::string_view> there;
  for (const TensorEntry& entry : file.entries())
    there.insert(entry.name);
  for (const TensorEntry& entry : file.entries()) {
    if (names.empty() || !entry.name.ends_with("." + names[0])) continue;
    const std::string key = entry.name.substr(0, entry.name.size() - names[0].size() - 1);
    if (std::all_of(names.begin(), names.end(),
                    [&](const std::string& name) { return there.count(key + "." + name) > 0; }))
      return key;
  }
  return "";
}

// How a file does not match.
enum class Misfit {
  only_extra,
  only_extra_biases,
  only_missing_biases,
  only_sizes,
  only_types,
  only_unreadable,
  other
};

// Returns whether there are names, all of biases.
GPUNET_INLINE bool are_biases(const std::vector<std::string>& names) {
  return !names.empty() && std::all_of(names.begin(), names.end(), [](std::string_view name) {
    return name == "bias" || name.ends_with(".bias");
  });
}

// Returns advice for the message. `odd`: the only layer with sizes that do not match, for
// Misfit::only_sizes.
template <class T>
std::string advice_on(const std::vector<NamedArray<T>>& arrays,
                      const std::vector<std::string>& missing, Misfit misfit, std::string_view odd,
                      const TensorFile& file, const EntryFinder& finder,
                      const LoadOptions& options) {
  const std::string any =
      "load a file that was saved from this network, or build the network that the file was saved "
      "from";
  if (misfit == Misfit::only_types)
    return "save these tensors as numbers that fit, in Python as tensor.float()";
  if (misfit == Misfit::only_unreadable) return "follow the advice in these lines, or " + any;
  if (misfit == Misfit::only_missing_biases)
    return "give these layers the option nn::Bias<false>, which is PyTorch's bias=False, or " + any;
  if (misfit == Misfit::only_extra_biases)
    return "give these layers a bias (leave out nn::Bias<false>), or " + any;
  if (misfit == Misfit::only_sizes)
    return concat("leave these out with {.skip = {\"", printable(odd),
                  "\"}}, so that they keep their values, or ", any);
  if (misfit == Misfit::only_extra)
    return "leave the unexpected ones out with {.strict = false}, or " + any;
  if (file.entries().empty()) return "the file has no tensors: " + any;
  if (options.match == Matching::by_order || options.rename || missing.empty()) return any;
  if (const std::string key = key_of(missing, file); !key.empty())
    return concat("load with {.key = \"", printable(key),
                  "\"}, under which the file has these names");
  if (file.in_saved_order() && finder.fit_in_order(arrays))
    return "load with {.match = io::by_order}, since all shapes fit in their order";
  if (const TensorEntry& only = file.entries()[0]; file.entries().size() == 1 && only.name.empty())
    for (const NamedArray<T>& array : arrays)
      if (only.problem.empty() && !array.count && fits(only, array.sizes))
        return concat(
            "give the array a name, {.rename = [](std::string_view) { return std::string(\"",
            array.name, "\"); }}, and leave out the others with .strict = false");
  return any;
}

// The patterns of names to skip.
class Skipped {
 public:
  explicit Skipped(const std::vector<std::string>& patterns)
      : patterns_(patterns), found_(patterns.size()) {}

  // Returns whether a pattern names the parameter.
  bool names(std::string_view name) {
    bool any = false;
    for (std::size_t i = 0; i < patterns_.size(); ++i)
      if (names_parameter(patterns_[i], name)) any = found_[i] = true;
    return any;
  }
  // Throws Error if a pattern has named nothing.
  template <class T>
  void require_found(const std::vector<NamedArray<T>>& arrays, const TensorFile& file) const {
    for (std::size_t i = 0; i < patterns_.size(); ++i)
      require(found_[i], "gpunet::io::load: nothing in the network or in ", file.path(),
              " is called \"", printable(patterns_[i]),
              "\", which .skip leaves out (the network has ",
              gpunet::detail::short_list(
                  arrays, [](const NamedArray<T>& array) { return shown(array.name); }),
              "), give a name, a part as \"fc\", or a pattern as \"fc.*\"");
  }

 private:
  const std::vector<std::string>& patterns_;
  std::vector<bool> found_;
};

// Lines of a message; after ten of them it ends with the number of the others.
class Lines {
 public:
  template <class... Parts>
  void add(const Parts&... parts) {
    if (n_++ < most) text_ += concat("\n  ", parts...);
  }
  bool empty() const { return n_ == 0; }
  std::string text() const {
    return n_ <= most ? text_ : concat(text_, "\n  and ", n_ - most, " more");
  }

 private:
  static constexpr std::size_t most = 10;
  std::string text_;
  std::size_t n_ = 0;
};

}  // namespace detail

template <class T>
Match match(const std::vector<NamedArray<T>>& arrays, const TensorFile& file,
            const LoadOptions& options) {
  detail::EntryFinder finder(file, options);
  Match out;
  std::vector<const TensorEntry*>& matched = out.entries;
  std::vector<std::string>&missing = out.keys.missing_keys, &unexpected = out.keys.unexpected_keys;
  detail::Lines mismatches;
  detail::Skipped skipped(options.skip);
  bool any_found = false, any_skipped = false, any_fits = false, types_fit = true;
  std::set<std::string> odd_layers;  // a size in them does not match
  const std::vector<const NamedArray<T>*> in_order = finder.in_order(arrays);
  std::size_t place = 0;
  for (const NamedArray<T>& array : arrays) {
    const bool has_place = place < in_order.size() && in_order[place] == &array;
    const TensorEntry* entry =
        has_place || options.match == Matching::by_name ? finder.find(place, array.name) : nullptr;
    place += has_place;
    if (skipped.names(array.name)) {
      matched.push_back(nullptr);
      any_skipped = true;
      continue;
    }
    matched.push_back(entry);
    any_found |= entry && !array.count;
    if (!entry) {
      if (!array.count)
        // old files have no counters, and PyTorch does not require them.
        missing.push_back(array.name);
      continue;
    }
    const std::string in_file =
        options.match == Matching::by_name ? "" : concat(" (", entry->name, ")");
    if (!entry->problem.empty()) {
      mismatches.add("unreadable ", array.name, ": ", entry->problem);
      continue;
    }
    if (detail::fits(*entry, array.sizes)) {
      any_fits = true;
    } else {
      odd_layers.insert(array.name.substr(0, array.name.rfind('.')));
      mismatches.add("size mismatch for ", array.name, ": ", to_string(entry->sizes),
                     " in the file", in_file, ", ", to_string(array.sizes), " in the network");
    }
    if (!is_parameter_type(entry->dtype)) {
      types_fit = false;
      mismatches.add("type mismatch for ", array.name, ": ", to_string(entry->dtype),
                     " in the file", in_file, ", real numbers of at least a byte wanted");
    }
  }
  unexpected = finder.unused();
  std::erase_if(unexpected, [&](const std::string& name) { return skipped.names(name); });
  skipped.require_found(arrays, file);
  require(!any_skipped || any_found || !missing.empty(),
          "gpunet::io::load: .skip leaves out all parameters of the network (nothing would be "
          "loaded), leave out fewer");
  const bool nothing_in_common = !any_found && !missing.empty();
  if (mismatches.empty() &&
      (options.strict ? missing.empty() && unexpected.empty() : !nothing_in_common))
    return out;

  std::string problems;
  if (!missing.empty())
    problems += concat("\n  missing keys: ", gpunet::detail::short_list(missing, detail::shown));
  if (!unexpected.empty())
    problems +=
        concat("\n  unexpected keys: ", gpunet::detail::short_list(unexpected, detail::shown));
  if (const detail::NamedEntry* odd = finder.unused_problem(); odd && !missing.empty())
    problems +=
        concat("\n  unreadable in the file: ", detail::shown(odd->name), ": ", odd->entry->problem);
  detail::Misfit misfit = !missing.empty() || !odd_layers.empty() ? detail::Misfit::other
                          : !types_fit                            ? detail::Misfit::only_types
                          : !mismatches.empty()                   ? detail::Misfit::only_unreadable
                                                                  : detail::Misfit::only_extra;
  if (mismatches.empty() && unexpected.empty() && detail::are_biases(missing))
    misfit = detail::Misfit::only_missing_biases;
  if (missing.empty() && unexpected.empty() && types_fit && odd_layers.size() == 1 && any_fits)
    misfit = detail::Misfit::only_sizes;
  if (misfit == detail::Misfit::only_extra && detail::are_biases(unexpected))
    misfit = detail::Misfit::only_extra_biases;
  throw_error(Error(concat(
      "gpunet::io::load: ", file.path(),
      " does not fit this network (nothing was loaded):", problems, mismatches.text(), '\n',
      detail::advice_on(arrays, missing, misfit, odd_layers.empty() ? "" : *odd_layers.begin(),
                        file, finder, options))));
}

#if GPUNET_COMPILED
template Match match(const std::vector<NamedArray<float>>& arrays, const TensorFile& file,
                     const LoadOptions& options);
template Match match(const std::vector<NamedArray<double>>& arrays, const TensorFile& file,
                     const LoadOptions& options);
#endif

}  // namespace gpunet::io
