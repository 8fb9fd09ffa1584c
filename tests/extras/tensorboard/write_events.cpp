// write_events FOLDER: everything that a SummaryWriter writes, for check_events.py.
#include <gpunet/gpunet.hpp>
#include <gpunet/tensorboard.hpp>

using namespace gpunet;

int main(int, char** argv) {
  Host host;
  io::SummaryWriter writer(argv[1]);
  for (int step = 0; step < 5; ++step)
    writer.add_scalar("Train/Loss", 1.0 / (step + 1), step);
  writer.add_scalars("both/loss", {{"train", 1}, {"test", 2}}, 3);
  writer.add_histogram("weights", std::vector<float>{-1, 0, 0, 2.5f}, 7);
  writer.add_image("picture", Tensor<float, Host>(host, {3, 1, 2}, {0, 1, 0.5f, 0.25f, 0, 0}), 1);
  writer.add_text("note", "hello *world*", 2);
  writer.add_hparams({{"lr", 0.1}, {"optimizer", "adam"}, {"flip", true}}, {{"accuracy", 0.5}},
                     "first");
}
