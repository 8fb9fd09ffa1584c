// The options of 05_playground.
#pragma once

#include <string>

#include "options.hpp"
#include "playground.hpp"

namespace examples {

// Reads the command line. Throws Error for settings that cannot be trained.
inline PlaygroundSettings read_settings(int argc, char** argv) {
  Options options(
      argc, argv, "05_playground",
      "Trains a small network on points in the plane, and writes a page that shows how.");
  PlaygroundSettings s;
  s.data = options.choice("--data", {"circle", "xor", "gaussians", "spiral"}, "the problem");
  s.points =
      options.get("--points", "N", "how many of them", s.points, index_t{10}, index_t{100'000});
  s.noise = options.get("--noise", "PERCENT", "of the points", s.noise, 0.0f, 50.0f);
  s.train_ratio = options.get("--train-ratio", "PERCENT", "points to learn from, of all",
                              s.train_ratio, 10.0f, 90.0f);
  s.features =
      options.get("--features", "LIST", "some of x1,x2,x1^2,x2^2,x1x2,sinx1,sinx2", s.features);
  s.layers = options.get("--layers", "LIST",
                         "1 to 8 neurons for each of up to 6 hidden layers, or none", s.layers);
  s.activation = options.choice("--activation", {"tanh", "relu", "sigmoid", "linear"},
                                "what hidden neurons do");
  s.lr = options.get("--lr", "X", "learning rate of Adam", s.lr, 1e-6f, 10.0f);
  s.l1 = options.get("--l1", "X", "what weights cost, each its size", s.l1, 0.0f, 10.0f);
  s.l2 = options.get("--l2", "X", "what weights cost, each half its square", s.l2, 0.0f, 10.0f);
  s.batch_size = options.batch_size(s.batch_size);
  s.epochs = options.get("--epochs", "N", "times through all points", s.epochs, index_t{1});
  s.seed = options.get("--seed", "N", "seed of points, weights and batches", s.seed);
  s.html = options.get("--html", "FILE", "the page", s.html);
  s.watch = options.flag("--watch", "draw it in the terminal while it trains");
  s.device = options.device();
  options.finish();
  require(!s.html.empty(),
          "05_playground: --html is empty (want the name of a file, as playground.html)");
  read_layers(s.layers);
  return s;
}

// Returns the command line of the program.
inline std::string command_line(int argc, char** argv) {
  std::string command = "05_playground";
  for (int i = 1; i < argc; ++i)
    command += concat(" ", argv[i]);
  return command;
}

}  // namespace examples
