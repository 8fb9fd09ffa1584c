// Bodies of optimizer_state.hpp.
#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/io/checkpoint.ipp>
#include <gpunet/io/formats.hpp>
#include <gpunet/io/optimizer_state.hpp>
#include <gpunet/io/pickle.ipp>
#include <gpunet/io/torch_file.ipp>

namespace gpunet::io::detail {

// The parts of "state.3.exp_avg" and "param_groups.0.lr".
struct StateName {
  std::string_view dict;
  index_t number = 0;
  std::string_view leaf;

  explicit StateName(std::string_view name) {
    const std::size_t first = name.find('.'), second = name.find('.', first + 1);
    dict = name.substr(0, first);
    number = number_in<index_t>(name.substr(first + 1, second - first - 1)).value_or(-1);
    leaf = name.substr(second + 1);
  }
};

// Writes the state of an optimizer as nested dicts.
class OptimizerPickle {
 public:
  explicit OptimizerPickle(const StateWriter& state) : state_(state) {
    pickle_.opcodes("}(").string("state").opcodes("}(");
    write_dict("state",
               [&](const TensorEntry& entry, std::string_view leaf) { write_state(entry, leaf); });
    pickle_.opcodes("u").string("param_groups").opcodes("](");
    write_dict("param_groups",
               [&](const TensorEntry& entry, std::string_view leaf) { write_option(entry, leaf); });
    pickle_.opcodes("eu.");
  }

  void save(const std::string& path) const { write_torch_archive(path, pickle_, tensors_); }

 private:
  // Writes a dict for each number: as the value of that key in "state", as an item of the list
  // "param_groups".
  template <class Write>
  void write_dict(std::string_view dict, Write write) {
    std::map<index_t, std::vector<const TensorEntry*>> by_number;
    for (const TensorEntry& entry : state_.entries)
      if (const StateName name(entry.name); name.dict == dict && is_of_torch(name.leaf))
        by_number[name.number].push_back(&entry);
    for (const auto& [number, entries] : by_number) {
      if (dict == "state") pickle_.integer(number);
      pickle_.opcodes("}(");
      for (const TensorEntry* entry : entries)
        write(*entry, StateName(entry->name).leaf);
      pickle_.opcodes("u");
    }
  }

  bool has(std::string_view name) const {
    return state_.metadata.contains(checksum_key(std::string(name)));
  }
  // torch.optim.SGD does not count steps, and only NAdam has mu_product.
  bool is_of_torch(std::string_view leaf) const {
    if (leaf == "step") return !has("param_groups.0.dampening");
    return leaf != "mu_product" || has("param_groups.0.momentum_decay");
  }

  void write_state(const TensorEntry& entry, std::string_view leaf) {
    pickle_.string(leaf);
    TensorEntry tensor = entry;
    if (leaf == "step" || leaf == "mu_product") {  // of the default dtype
      const float& number = numbers_.emplace_back(static_cast<float>(number_of(entry)));
      tensor.dtype = Dtype::F32;
      tensor.bytes = std::as_bytes(std::span(&number, 1));
    }
    write_tensor(pickle_, tensor, concat(tensors_.size()));
    tensors_.push_back(std::move(tensor));
  }

  void write_option(const TensorEntry& entry, std::string_view leaf) {
    const double x = number_of(entry);
    if (leaf == "params") {
      pickle_.string(leaf).opcodes("](");
      for (index_t i = 0; i < static_cast<index_t>(x); ++i)
        pickle_.integer(parameter_++);
      pickle_.opcodes("e");
    } else if (leaf == "betas.1") {
      pickle_.string("betas").opcodes("(").real(momentum_).real(x).opcodes("t");
    } else if (leaf == "momentum") {
      momentum_ = x;
      if (!has("param_groups.0.betas.1")) pickle_.string(leaf).real(x);
    } else if (leaf == "nesterov" || leaf == "amsgrad" || leaf == "centered" ||
               leaf == "decoupled_weight_decay") {
      pickle_.string(leaf).boolean(x != 0);
    } else {
      pickle_.string(leaf).real(x);
    }
  }

  static double number_of(const TensorEntry& entry) {
    double number = 0;
    copy_as(entry, std::span(&number, 1));
    return number;
  }

  const StateWriter& state_;
  PickleWriter pickle_;
  std::vector<TensorEntry> tensors_;
  std::deque<float> numbers_;
  index_t parameter_ = 0;  // the next one
  double momentum_ = 0;    // of the group
};

// Reads the state of an optimizer from the entries of a file with numbers.
class OptimizerReader final : public StateVisitor {
 public:
  OptimizerReader(const TensorFile& file, const std::string& key) : path_(file.path()) {
    const std::string prefix = key.empty() ? "" : key + ".";
    for (const TensorEntry& entry : file.entries()) {
      if (!entry.name.starts_with(prefix)) continue;
      const std::string name = entry.name.substr(prefix.size());
      const StateName parts(name);
      if (parts.dict == "param_groups" && parts.leaf.starts_with("params."))
        ++sizes_[concat("param_groups.", parts.number, ".params")];
      else if (parts.dict == "param_groups" || parts.dict == "state")
        entries_[name] = &entry;
    }
    require(!sizes_.empty(), "gpunet::io::load: ", path_, " has no state of an optimizer",
            key.empty() ? "" : concat(" under \"", printable(key), "\""),
            " (param_groups is missing), give the key under which it was saved, such as {.key = "
            "\"optimizer_state_dict\"}");
    pass_ = Pass::check;
  }

  // Ends the first pass. Throws Error for values that nobody asked for.
  void begin_reading() {
    for (const auto& [name, size] : sizes_)
      require(asked_.contains(name), "gpunet::io::load: ", path_, " has ", name,
              " (the optimizer has fewer groups), add its groups first");
    for (const auto& [name, entry] : entries_) {
      if (asked_.contains(name)) continue;
      const std::string_view leaf = StateName(name).leaf;
      require(!name.starts_with("state.") &&
                  std::find(std::begin(own), std::end(own), leaf) == std::end(own),
              "gpunet::io::load: ", path_, " has ", printable(name),
              ", which this optimizer does not (it was saved by another, or with other options), "
              "construct that one");
      double maximizes = 0;
      if (leaf == "maximize") copy_as(*entry, std::span(&maximizes, 1));
      require(maximizes == 0, "gpunet::io::load: ", path_, " has ", name,
              " = 1 (the optimizers of gpunet minimize), train on the negative loss with an "
              "optimizer of its own");
    }
    pass_ = Pass::read;
  }

 private:
  // Options that only some optimizers have. Others are ways to compute (foreach), or of schedules
  // and of the user.
  static constexpr std::string_view own[] = {"momentum", "dampening",
                                             "nesterov", "betas.0",
                                             "betas.1",  "eps",
                                             "amsgrad",  "alpha",
                                             "centered", "momentum_decay",
                                             "lr_decay", "initial_accumulator_value",
                                             "rho",      "lambd",
                                             "etas.0"};

  // Returns the entry; null if there is none.
  const TensorEntry* find(const std::string& name) {
    asked_.insert(name);
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : found->second;
  }

  template <class T>
  void read(const std::string& name, const Sizes& sizes, std::span<T> x) {
    const TensorEntry* entry = find(name);
    const std::string_view leaf = StateName(name).leaf;
    if (!entry && leaf == "momentum")
      entry = find(name.substr(0, name.size() - leaf.size()) + "betas.0");
    if (!entry && leaf == "step") {  // SGD does not count them: the first one is over
      if (is_reading()) x[0] = 1;
      return;
    }
    if (!entry && leaf == "mu_product") return;
    require(entry, "gpunet::io::load: ", path_, " has no ", name,
            " (it was saved by another optimizer, or with other options), construct that one");
    require(entry->sizes == sizes || (sizes.rank() == 0 && entry->sizes.numel() == 1),
            "gpunet::io::load: ", path_, " has ", name, " of shape ", to_string(entry->sizes),
            " (want ", to_string(sizes), "), build the network as it was when it was saved");
    if (is_reading()) copy_as(*entry, x);
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
    if (const TensorEntry* entry = find(name)) copy_as(*entry, std::span(&number, 1));
    return number;
  }
  bool was_written(const std::string& name) const override {
    const std::string_view leaf = StateName(name).leaf;
    return entries_.contains(name) ||
           (leaf == "step" &&
            entries_.contains(name.substr(0, name.size() - leaf.size()) + "momentum_buffer"));
  }
  // decoupled_weight_decay, which an older PyTorch did not write, is taken to be equal.
  void check_option(const std::string& name, double here) override {
    double written = here;
    if (StateName(name).leaf == "params") {
      const auto size = sizes_.find(name);
      written = size == sizes_.end() ? 0 : static_cast<double>(size->second);
      asked_.insert(name);
      require(written == here, "gpunet::io::load: ", path_, " has ", written, " parameters in ",
              name, " (the optimizer has ", here,
              " there), build the network and the groups as they were when it was saved");
    } else if (const TensorEntry* entry = find(name)) {
      copy_as(*entry, std::span(&written, 1));
      require(written == here, "gpunet::io::load: ", path_, " has ", name, " = ", written,
              " (the optimizer has ", here, "), construct it with the options that were saved");
    } else {
      require(StateName(name).leaf == "decoupled_weight_decay", "gpunet::io::load: ", path_,
              " has no ", name, " (it was saved by another optimizer), construct that one");
    }
  }

  std::string path_;
  std::map<std::string, const TensorEntry*, std::less<>> entries_;
  std::map<std::string, index_t, std::less<>> sizes_;  // of the groups
  std::set<std::string, std::less<>> asked_;
};

GPUNET_INLINE void save_optimizer(const std::string& path, const VisitState& visit) {
  require(written_format(path) == Format::torch, "gpunet::io::save: cannot write ", path,
          ": the state of an optimizer has the format of torch.save (io::Checkpoint writes "
          "safetensors), name it .pth or .pt");
  StateWriter state;
  visit(state);
  OptimizerPickle(state).save(path);
}

GPUNET_INLINE void load_optimizer(const std::string& path, const OptimizerLoadOptions& options,
                                  const VisitState& visit) {
  std::optional<TensorFile> file(read_tensors(path, {.numbers = true}));
  OptimizerReader reader(*file, options.key);
  read_state(reader, file, visit);
}

}  // namespace gpunet::io::detail
