// The regression lesson: a network learns to predict a number of a table from the other numbers, is
// saved, and predicts the same after it was loaded.
#include <gpunet/datasets.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/plot.hpp>
#include <gpunet/tables.hpp>

#include "support/regression_options.hpp"

using namespace gpunet;

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    const examples::RegressionOptions with(argc, argv);
    const data::Table table = with.csv.empty() ? data::iris() : data::read_csv(with.csv);
    std::vector<std::string> columns = table.columns();
    if (with.csv.empty()) columns.pop_back();  // the species is no number
    const std::string target = with.target.empty() ? columns.back() : with.target;
    std::erase(columns, target);
    Host host;
    const Tensor<float, Host> X(host, {table.rows(), std::ssize(columns)}, table.numbers(columns));
    const Tensor<float, Host> y(host, {table.rows(), 1}, table.numbers(target));
    const auto parts = data::train_test_split(X, y, {.test_size = 0.2, .random_state = 33});
    const data::TensorDataset train_set(parts.X_train, parts.y_train),
        test_set(parts.X_test, parts.y_test);

    // A run-time size: it depends on the data.
    const nn::Sequential network(nn::Input(Shape(Dim(X.size(1)))),
                                 nn::Named<"hidden", nn::Linear<16>>(), nn::ReLU(),
                                 nn::Named<"out", nn::Linear<1>>());
    return with_device(with.device, {.threads = with.threads}, [&](auto& device) {
      manual_seed(with.seed);
      Model net(device, network);
      const nn::MSELoss criterion;
      optim::Adam optimizer(net, {.lr = with.lr});
      const data::DataLoader loader(train_set, {.batch_size = with.batch_size, .shuffle = true});
      const data::DataLoader test_loader(test_set, {.batch_size = test_set.size()});
      const train::InterruptGuard interrupt;
      const auto print = [&](const train::Training& run) {
        if ((run.current.number - 1) % with.print_every == 0)
          std::printf("epoch %3ld  loss %.6f  held out %.6f\n", run.current.number,
                      run.current.loss, run.current.val_loss);
      };
      const auto history = train::fit(net, criterion, optimizer, loader, {.epochs = with.epochs},
                                      train::Validation(test_loader), print, train::StopOnNaN(),
                                      train::StopOnInterrupt());
      require(history.end != train::End::not_finite, "06_regression: ", history.why,
              ", use a smaller --lr, or columns of similar size");

      const double mean = train::evaluate(net, nn::L1Loss{}, test_loader).loss;
      std::printf("\n%s of the rows held out is predicted within %.3f on average\n", target.c_str(),
                  mean);
      io::save(net, with.save);
      Model loaded(device, network);
      io::load(loaded, with.save);
      const auto rows = parts.X_test.to(device);
      require(loaded(rows).to_vector() == net(rows).to_vector(),
              "06_regression: the network changed in ", with.save);
      std::printf("the first of them: %.3f, predicted %.3f by the network of %s\n",
                  parts.y_test.to_vector()[0], loaded(rows).to_vector()[0], with.save.c_str());
      plot::Series loss{"loss"}, held_out{"loss of the rows held out"};
      for (const train::Epoch& epoch : history.epochs) {
        loss.y.push_back(epoch.loss);
        held_out.y.push_back(epoch.val_loss);
      }
      plot::save(with.picture,
                 plot::lines({loss, held_out}, {.titles = {"Regression", "epoch", "loss"}}));
      return interrupt.exit_status();
    });
  });
}
