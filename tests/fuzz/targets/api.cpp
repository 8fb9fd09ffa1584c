// Calls of the library in any order, chosen by the bytes: each returns or throws an Error, and in
// the end the training still works.
#include <memory>
#include <optional>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "fuzz.hpp"

namespace {

using namespace gpunet;

nn::Value layers(nn::Value x) {
  x = nn::dropout(nn::relu(nn::batch_norm(nn::linear(x, 4))), 0.5);
  return nn::linear(x, 3);
}

// A training whose parts are called in any order.
class Program {
 public:
  // Makes the call that the next bytes choose.
  void call(fuzz::Bytes& bytes) {
    const unsigned what = fuzz::take_choice(bytes, 32);
    number_ = fuzz::take_choice(bytes, 256);
    switch (what) {
      case 0:
        output_.emplace(net_(x()));
        return;
      case 1:
        if (output_) loss_.emplace(criterion_(*output_, y()));
        return;
      case 2:
        if (loss_) loss_->backward(number_ % 2 ? 1 : 0.5);
        return;
      case 3:
        optimizer_.step();
        return;
      case 4:
        optimizer_.zero_grad();
        return;
      case 5:
        (number_ % 2 ? step_ : accumulating_)(x(), y());
        return;
      case 6:
        accumulating_.update();
        return;
      case 7:
        net_.train(number_ % 2);
        return;
      case 8:
        net_.autocast(number_ % 3 == 0   ? Storage::full
                      : number_ % 3 == 1 ? Storage::bfloat16
                                         : Storage::float16);
        return;
      case 9:
        net_.parameters(number_ % 2 ? "*.weight" : "0.*").requires_grad(number_ % 4 < 2);
        return;
      case 10:
        net_.detect_anomaly(number_ % 2);
        return;
      case 11:
        file().save();
        return;
      case 12:
        file().load();
        return;
      case 13:
        io::save(net_, folder() / (number_ % 2 ? "net.pth" : "net.safetensors"));
        return;
      case 14:
        io::load(net_, folder() / (number_ % 2 ? "net.pth" : "net.safetensors"));
        return;
      case 15:
        if (output_) accuracy_.update(*output_, y());
        return;
      case 16:
        accuracy_.result();
        accuracy_.reset();
        return;
      case 17:
        if (loss_) running_ += *loss_;
        return;
      case 18:
        running_.item();
        running_.reset();
        return;
      case 19:
        scheduler_.step();
        return;
      case 20:
        nn::utils::clip_grad_norm_(net_, number_ / 64.0).item();
        return;
      case 21:
        published_.publish(number_ % 2 ? net_ : other_);
        return;
      case 22:
        predictor_(x());
        return;
      case 23:
        other_.copy_state(net_);
        return;
      case 24:
        lerp(other_, net_, number_ / 255.0);
        return;
      case 25:
        hook();
        return;
      case 26:
        if (output_) output_->to_vector();
        return;
      case 27:
        if (loss_) loss_->item();
        return;
      case 28:
        ema_.update_parameters(net_);
        return;
      case 29:
        net_ = Network<Host, float>(host_, layers, {2});
        return;
      case 30:
        std::swap(net_, other_);
        return;
      default:
        optimizer_.set_lr(number_ / 128.0 - 0.1);
        return;
    }
  }

  // The training works, whatever came before.
  void finish() {
    net_.autocast(Storage::full);
    net_.detect_anomaly(false);
    net_.requires_grad(true);
    number_ = 3;
    optim::SGD optimizer(net_, {.lr = 0.1});
    train::Step step(net_, criterion_, optimizer);
    step(x(), y()).item();
    fuzz::ensure(net_(x()).to_vector().size() == 9, "outputs of another shape");
  }

 private:
  // A batch of 0 to 5 samples, or of a wrong shape; now and then with a number that is not finite,
  // or a label that is no class.
  Tensor<float, Host> x() {
    const auto batch = static_cast<index_t>(number_ % 6);
    Tensor<float, Host> inputs = rand(host_, {batch, number_ == 200 ? 3 : 2});
    if (number_ == 201) inputs.data()[0] = 1e38f * 100;
    return inputs;
  }
  Tensor<label_t, Host> y() {
    const auto batch = static_cast<std::size_t>(number_ % 6);
    return {
        host_, {static_cast<index_t>(batch)}, std::vector<label_t>(batch, number_ == 202 ? 3 : 1)};
  }
  static const TempFolder& folder() {
    static const TempFolder all;
    return all;
  }
  io::Checkpoint file() {
    io::Checkpoint checkpoint(folder() / "run.safetensors", {.keep_last = 2});
    checkpoint.add("net", net_)
        .add("optimizer", optimizer_)
        .add("scheduler", scheduler_)
        .add("step", accumulating_);
    return checkpoint;
  }
  void hook() {
    if (hook_) {
      hook_->remove();
      hook_.reset();
    } else {
      hook_.emplace(net_.register_forward_hook("0", [](const Tensor<float, Host>&) {}));
    }
  }

  unsigned number_ = 0;
  Host host_{{.threads = 1}};
  Network<Host, float> net_{host_, layers, {2}}, other_{host_, layers, {2}};
  nn::CrossEntropyLoss criterion_;
  optim::Adam<Host, float> optimizer_{net_, {.lr = 0.01}};
  optim::lr_scheduler::StepLR scheduler_{optimizer_, {.step_size = 2}};
  optim::swa_utils::AveragedModel<Network<Host, float>> ema_{net_};
  train::Step<Host, float, nn::CrossEntropyLoss, optim::Adam<Host, float>> step_{net_, criterion_,
                                                                                 optimizer_},
      accumulating_{net_, criterion_, optimizer_, {.accumulate = 3}};
  train::Accuracy<Host> accuracy_{host_, 3};
  train::RunningLoss<Host> running_{host_};
  PublishedWeights<Host, float> published_{net_};
  Predictor<Host, float> predictor_{published_};
  std::optional<Output<Host, float>> output_;
  std::optional<LossValue<Host, float>> loss_;
  std::optional<Hook<Host, float>> hook_;
};

const fuzz::Register api({"api",
                          [](fuzz::Bytes bytes) {
                            manual_seed(1);
                            static fuzz::Counter calls("calls");
                            Program program;
                            while (bytes.size() >= 2) {
                              ++calls;
                              try {
                                program.call(bytes);
                              } catch (const Error& error) {
                                const std::string_view what = error.what();
                                fuzz::ensure(
                                    what.starts_with("gpunet::"),
                                    gpunet::concat("an Error that does not say where: ", what));
                              }
                            }
                            program.finish();
                          },
                          [] {
                            return std::vector<std::string>{
                                std::string("\0\3\1\3\2\3\3\3\4\3", 10),
                                std::string("\5\3\5\4\6\3\13\1\14\1", 10),
                                std::string("\10\1\5\3\12\1\0\311\25\1\26\3", 12),
                                std::string("\0\3\1\3\35\1\2\1\32\1\33\1", 12)};
                          }});

}  // namespace
