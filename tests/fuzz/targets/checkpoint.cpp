// A checkpoint into the objects of a training. The first byte chooses: any file, or one whose
// checksums hold, in which the next bytes choose what else an attacker would change: types, shapes,
// names and numbers.
#include <cstring>

#include <gpunet/gpunet.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/safetensors.hpp>

#include "fuzz.hpp"

namespace {

using namespace gpunet;
using Net = nn::Sequential<nn::Input<3>, nn::Linear<2>, nn::BatchNorm1d>;

// Everything that has a state.
struct Objects {
  Host host{{.threads = 1}};
  Model<Net, Host> net{host};
  optim::Adam<Host, float> optimizer{net, {.lr = 0.1}};
  optim::lr_scheduler::ReduceLROnPlateau plateau{optimizer};
  optim::lr_scheduler::OneCycleLR cycle{optimizer, {.max_lr = 1, .total_steps = 10}};
  amp::GradScaler scaler{};
  train::Step<Host, float, nn::CrossEntropyLoss, optim::Adam<Host, float>> step{
      net, nn::CrossEntropyLoss{}, optimizer, {.accumulate = 2}};
  train::RunningLoss<Host> loss{host};
  train::Accuracy<Host> accuracy{host, 2};
  train::ConfusionMatrix<Host> matrix{host, 2};
  train::EarlyStopping stopping{{.patience = 2}};
  Generator generator{1};
  index_t epoch = 0;
  std::string note = "a note";
  std::vector<std::string> classes{"cat", "dog"};
  Tensor<label_t, Host> labels{host, {2}, {3, 4}};

  io::Checkpoint checkpoint(const std::string& path) {
    io::Checkpoint file(path);
    file.add("net", net)
        .add("optimizer", optimizer)
        .add("plateau", plateau)
        .add("cycle", cycle)
        .add("scaler", scaler);
    file.add("step", step)
        .add("loss", loss)
        .add("accuracy", accuracy)
        .add("matrix", matrix)
        .add("stopping", stopping);
    file.add("generator", generator).add("epoch", epoch);
    file.add("note", note).add("classes", classes).add("labels", labels);
    return file;
  }
};

// The path of a checkpoint of the objects.
std::string saved(Objects& objects, const char* name) {
  static const TempFolder folder;
  const std::string path = folder / name;
  objects.checkpoint(path).save();
  return path;
}

// The objects as they are in the first state, whatever the inputs before.
Objects new_objects() {
  manual_seed(1);
  return Objects{};
}

// A checkpoint of the first state.
const io::SafetensorsFile& first() {
  static const io::SafetensorsFile file = [] {
    Objects objects = new_objects();
    return io::SafetensorsFile::read(saved(objects, "first.safetensors"));
  }();
  return file;
}

// Returns the path of a checkpoint of the first state whose entries are changed as the bytes say,
// with their checksums.
std::string changed(fuzz::Bytes bytes) {
  std::vector<io::TensorEntry> entries = first().entries();
  std::vector<std::string> contents;
  io::Metadata metadata = first().metadata();
  for (const io::TensorEntry& entry : entries)
    contents.emplace_back(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
  constexpr io::Dtype dtypes[] = {io::Dtype::F32, io::Dtype::F64, io::Dtype::I64, io::Dtype::U8};
  constexpr int most = 16;  // changes: with more, no file is ever read
  for (int change = 0; change < most && bytes.size() >= 4; ++change) {
    const auto i = fuzz::take_choice(bytes, 256) % entries.size();
    const unsigned what = fuzz::take_choice(bytes, 6), number = fuzz::take_choice(bytes, 256);
    std::string& content = contents[i];
    if (what == 0) entries[i].dtype = dtypes[number % 4];
    if (what == 1) entries[i].sizes = {static_cast<index_t>(number)};
    if (what == 2) entries[i].name += static_cast<char>('a' + number % 26);
    if (what == 3 && !content.empty())
      content[number % content.size()] = static_cast<char>(fuzz::take_choice(bytes, 256));
    if (what == 4) {  // all bytes of a number: huge, negative, nan
      const auto high = static_cast<char>(fuzz::take_choice(bytes, 256));
      for (std::size_t k = 0; k < content.size(); ++k)
        content[k] = k % 8 == 7 || (k % 4 == 3 && entries[i].dtype == io::Dtype::F32)
                         ? high
                         : static_cast<char>(number);
    }
    if (what == 5 && number < 8) entries[i].name = entries[number % entries.size()].name;
    const auto size =
        static_cast<std::size_t>(io::detail::byte_count(entries[i].dtype, entries[i].sizes));
    content.resize(size, '\1');
    metadata["crc32 " + entries[i].name] =
        std::to_string(io::detail::crc32(fuzz::bytes_of(content)));
  }
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i].bytes = fuzz::bytes_of(contents[i]);
  static const TempFolder folder;
  std::string path = folder / "changed.safetensors";
  io::write_safetensors(path, entries, metadata);
  return path;
}

const fuzz::Register checkpoint(
    {"checkpoint",
     [](fuzz::Bytes bytes) {
       static const std::string before = read_text(first().path());
       Objects objects = new_objects();
       const bool any_file = fuzz::take_choice(bytes, 2) == 0;
       static const fuzz::MemoryFolder folder({"any.safetensors"});
       if (any_file) folder.write(0, bytes);
       const std::string path = any_file ? folder.path() + "/any.safetensors" : changed(bytes);
       try {
         objects.checkpoint(path).load();
       } catch (const Error&) {
         fuzz::ensure(read_text(saved(objects, "after.safetensors")) == before,
                      "objects that are changed though loading failed");
         throw;
       }
       // What was read can be used, whatever the numbers are.
       const Tensor<float, Host> x(objects.host, {2, 3}, {1, 2, 3, 4, 5, 6});
       const Tensor<label_t, Host> y(objects.host, {2}, {0, 1});
       objects.step(x, y);
       objects.cycle.step();
       objects.plateau.step(1);
       objects.accuracy.update(objects.net(x), y);
       objects.matrix.update(objects.net(x), y);
       objects.accuracy.result();
       objects.generator.uniform(0.0f, 1.0f);
       saved(objects, "after.safetensors");
     },
     [] {
       Objects objects = new_objects();
       return std::vector<std::string>{'\0' + read_text(saved(objects, "seed.safetensors")),
                                       "\1",
                                       std::string("\1\3\3\3\3", 5),
                                       std::string("\1\5\4\0\x7f", 5),
                                       std::string("\1\7\1\2\2\7\2\1\1", 9),
                                       "\1\35\3\7\7"};  // default_generator.next_normal
     }});

}  // namespace
