// The options of 05_playground.
#pragma once

#include <string>

#include <gpunet/nn/any_activation.hpp>

#include "options.hpp"
#include "playground.hpp"

namespace examples {

// Reads the command line; throws Error for what makes no training.
inline PlaygroundSettings read_settings(int argc, char** argv) {
  PlaygroundSettings s;
  Options options("05_playground",
                  "Trains a small network on points in the plane, and writes a page that shows how.");
  options.add("--data", "NAME", "circle, xor, gaussians or spiral (circle)", s.data);
  options.add<index_t>("--points", "N", "how many of them (500)", s.points, 10);
  options.add("--noise", "PERCENT", "0 to 50 (0)", s.noise, 0, 50, "0 to 50 percent");
  options.add("--train-ratio", "PERCENT", "points to learn from, of all (50)", s.train_ratio, 10, 90,
              "10 to 90 percent");
  options.add("--features", "LIST", "some of x1,x2,x1^2,x2^2,x1x2,sinx1,sinx2 (x1,x2)", s.features);
  options.add("--layers", "LIST", "1 to 8 neurons for each of up to 6 hidden layers, or none (4,2)", s.layers);
  options.add("--activation", "NAME", "relu, tanh, sigmoid or linear (tanh)", s.activation);
  options.add("--lr", "X", "learning rate of Adam (0.03)", s.lr, 1e-6f, 10, "0.000001 to 10");
  options.add("--l1", "X", "what weights cost, each its size (0)", s.l1, 0, 10, "0 to 10");
  options.add("--l2", "X", "what weights cost, each half its square (0)", s.l2, 0, 10, "0 to 10");
  options.add<index_t>("--batch-size", "N", "points per step (10)", s.batch_size, 1);
  options.add<index_t>("--epochs", "N", "times through all points (100)", s.epochs, 1);
  options.add("--seed", "N", "seed of points, weights and batches (0)", s.seed);
  options.add("--html", "FILE", "the page (playground.html)", s.html);
  options.add("--watch", "draw it in the terminal while it trains", s.watch);
  options.add("--device", "auto|cpu|cuda[:N]", "where to run (auto: a GPU if there is one)", s.device);
  options.parse(argc, argv);
  require(s.points <= 100'000, "05_playground: --points ", s.points, " (want 10 to 100000)");
  require(!s.html.empty(), "05_playground: --html is empty (want the name of a file, as playground.html)");
  const gpunet::nn::AnyActivation known(s.activation);
  read_layers(s.layers);
  return s;
}

// How the program was called.
inline std::string command_line(int argc, char** argv) {
  std::string command = "05_playground";
  for (int i = 1; i < argc; ++i)
    command += concat(" ", argv[i]);
  return command;
}

}  // namespace examples
