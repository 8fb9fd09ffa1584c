// Steps of training by the processes that started this together, alone without any:
// gpunet_distributed_bench JOB SECONDS [TRACE]. The first process prints the median milliseconds of
// a step, the loss of the third step, and what a step has sent; it writes what happened in one step
// to the file TRACE, for chrome://tracing or https://ui.perfetto.dev. JOB is NETWORK_bBATCH, such
// as lenet_b256; JOB@late reduces all gradients after the backward pass, as without overlap;
// JOB@tree8 by the fixed tree, with 8 leaves. scripts/distributed_bench.sh compares this with
// PyTorch.
#include <gpunet/distributed.hpp>
#include <gpunet/distributed/mpi.hpp>
#include <gpunet/io/atomic_file.hpp>

#include "function_networks.hpp"
#include "networks.hpp"
#include "training.hpp"

namespace {

using namespace gpunet;
using bench::index_t;
using Clock = std::chrono::steady_clock;

double milliseconds() {
  return std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch()).count();
}

// An engine that notes when it is called, and may start a call no earlier than somebody waits for
// it.
class NotingEngine final : public distributed::Engine {
  static constexpr std::uint64_t first_late_ = std::uint64_t{1} << 62;

  template <class F>
  auto noted(const char* what, index_t bytes, F f) {
    struct End {
      Note& note;
      ~End() { note.end = milliseconds(); }
    };
    notes.push_back({what, milliseconds(), 0, bytes});
    const End end{notes.back()};
    return f();
  }

 public:
  struct Note {
    const char* what;
    double begin, end;
    index_t bytes;
  };

  explicit NotingEngine(std::shared_ptr<Engine> engine, bool late)
      : engine_(std::move(engine)), late_(late) {}

  std::string name() const override { return engine_->name(); }
  index_t rank() const override { return engine_->rank(); }
  index_t size() const override { return engine_->size(); }
  index_t local_rank() const override { return engine_->local_rank(); }
  index_t local_size() const override { return engine_->local_size(); }

  std::uint64_t start(const distributed::CollectiveCall& call) override {
    if (late_ && call.kind == distributed::Collective::all_reduce) {
      waiting_.push_back(call);
      return first_late_ + waiting_.size() - 1;
    }
    return noted("start", call.elements * io::bits_of(call.type) / 8,
                 [&] { return engine_->start(call); });
  }
  void wait(std::uint64_t number) override {
    if (number < first_late_) return noted("wait", 0, [&] { engine_->wait(number); });
    // All of them, in their order, before the first is waited for.
    std::vector<std::uint64_t> started;
    for (const distributed::CollectiveCall& call : waiting_)
      started.push_back(engine_->start(call));
    for (const std::uint64_t call : started)
      engine_->wait(call);
    waiting_.clear();
  }
  void abandon(const std::string& why) override { engine_->abandon(why); }
  void advance() override {
    noted("advance", 0, [&] { engine_->advance(); });
  }

  std::vector<Note> notes;

 private:
  std::shared_ptr<Engine> engine_;
  bool late_;
  std::vector<distributed::CollectiveCall> waiting_;
};

NotingEngine* noting_engine = nullptr;

// Puts a NotingEngine before the engine of the program.
void note_calls(bool late) {
  static bool is_late;
  is_late = late;
  static const distributed::EngineFactory factory = distributed::engine_factory();
  distributed::engine_factory() =
      [](const distributed::CommunicatorOptions& options) -> std::shared_ptr<distributed::Engine> {
    std::shared_ptr<distributed::Engine> engine = factory(options);
    if (!engine) return nullptr;
    const auto noting = std::make_shared<NotingEngine>(std::move(engine), is_late);
    noting_engine = noting.get();
    return noting;
  };
}

// Writes the notes of a step that lasted from `begin` to `end` as trace events.
void write_trace(const std::string& file, double begin, double end) {
  std::string text =
      concat("[{\"name\": \"step\", \"ph\": \"X\", \"pid\": 0, \"tid\": 0, \"ts\": 0, \"dur\": ",
             1e3 * (end - begin), "}");
  for (const NotingEngine::Note& note : noting_engine->notes)
    if (note.begin >= begin)
      text +=
          concat(",\n {\"name\": \"", note.what,
                 "\", \"ph\": \"X\", \"pid\": 0, \"tid\": 1, \"ts\": ", 1e3 * (note.begin - begin),
                 ", \"dur\": ", 1e3 * (note.end - note.begin),
                 ", \"args\": {\"bytes\": ", note.bytes, "}}");
  io::write_file_atomically(file, text + "]\n");
}

template <class Net, class Optimizer>
void run(distributed::Communicator& comm, index_t batch,
         const distributed::DistributedDataParallelOptions& options, double seconds,
         const std::string& trace) {
  require(batch > 0 && batch % comm.size() == 0, "gpunet_distributed_bench: ", batch,
          " samples for ", comm.size(), " processes");
  Host host;
  manual_seed(0);
  auto net = bench::make_network<Net>(host);
  distributed::DistributedDataParallel ddp(net, comm, options);
  auto optimizer = Optimizer::make(net);
  const nn::CrossEntropyLoss criterion;
  train::Step step(net, criterion, optimizer);
  // The samples of this rank.
  const auto all_inputs = bench::make_inputs<Net>(host, batch);
  const auto all_targets = bench::make_targets<Net, label_t>(host, batch);
  const index_t part = batch / comm.size(), numbers = all_inputs.numel() / batch;
  Tensor<float, Host> inputs(host, all_inputs.sizes().tail().with_front(part));
  Tensor<label_t, Host> targets(host, {part});
  for (index_t i = 0; i < part; ++i) {
    const index_t of = comm.rank() + i * comm.size();
    std::copy_n(all_inputs.data() + of * numbers, numbers, inputs.data() + i * numbers);
    targets.data()[i] = all_targets.data()[of];
  }
  double loss = 0;
  for (int i = 0; i < 3; ++i)
    loss = step(inputs, targets).item();
  loss = comm.all_reduce(loss, distributed::ReduceOp::avg);
  const index_t calls = comm.calls(), bytes = comm.bytes();
  std::vector<double> times;
  double waited = 0;
  for (double begin = milliseconds(), sum = 0; sum < 1e3 * seconds;) {
    if (noting_engine) noting_engine->notes.clear();
    const double start = milliseconds();
    step(inputs, targets);
    times.push_back(milliseconds() - start);
    if (noting_engine)
      for (const NotingEngine::Note& note : noting_engine->notes)
        if (std::string_view(note.what) == "wait") waited += note.end - note.begin;
    if (times.size() == 20 && comm.is_main() && !trace.empty() && noting_engine)
      write_trace(trace, start, milliseconds());
    // All end after the same step.
    if (times.size() % 10 == 0)
      sum = comm.all_reduce(milliseconds() - begin, distributed::ReduceOp::max);
  }
  if (!comm.is_main()) return;
  const auto steps = static_cast<double>(times.size());
  std::sort(times.begin(), times.end());
  const double checks = comm.size() > 1 ? steps / 10 : 0;
  std::printf("%.4f ms, loss %.6f, %.1f calls, %.0f bytes, %.4f ms waited, %zu buckets\n",
              times[times.size() / 2], loss,
              (static_cast<double>(comm.calls() - calls) - 2 * checks) / steps,
              (static_cast<double>(comm.bytes() - bytes)) / steps, waited / steps,
              ddp.buckets().size());
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string job = argc > 1 ? argv[1] : "";
  const std::size_t at = job.find('@'), batch_at = job.rfind("_b", at);
  const std::string way = at == std::string::npos ? "" : job.substr(at + 1),
                    network = job.substr(0, batch_at);
  require(
      batch_at != std::string::npos && (way.empty() || way == "late" || way.starts_with("tree")),
      "gpunet_distributed_bench: '", job,
      "' (want NETWORK_bBATCH, NETWORK_bBATCH@late or NETWORK_bBATCH@treeLEAVES)");
  const index_t batch = std::strtol(job.c_str() + batch_at + 2, nullptr, 10);
  distributed::DistributedDataParallelOptions options;
  if (way.starts_with("tree")) {
    options.reduction = distributed::Reduction::fixed_tree;
    options.tree_leaves = std::strtol(way.c_str() + 4, nullptr, 10);
  }
  const double seconds = argc > 2 ? std::strtod(argv[2], nullptr) : 1;
  const std::string trace = argc > 3 ? argv[3] : "";
  note_calls(way == "late");
  distributed::Communicator comm;
  if (network == "lenet")
    run<bench::LeNet, bench::Momentum>(comm, batch, options, seconds, trace);
  else if (network == "cnn")
    run<bench::CnnNet, bench::Adam<1>>(comm, batch, options, seconds, trace);
  else if (network == "mlp")
    run<bench::MlpNet, bench::Momentum>(comm, batch, options, seconds, trace);
  else if (network == "vgg")
    run<bench::VggNet, bench::Momentum>(comm, batch, options, seconds, trace);
  else if (network == "resnet20")
    run<bench::ResNet20, bench::Momentum>(comm, batch, options, seconds, trace);
  else
    throw Error(concat("gpunet_distributed_bench: no network '", network,
                       "' (want lenet, cnn, mlp, vgg, resnet20)"));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
