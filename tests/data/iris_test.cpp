#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/data/iris.hpp>
#include <gpunet/data/train_test_split.hpp>

#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE("the iris flowers are a table of 150 rows") {
  const data::Table table = data::iris();
  CHECK(table.rows() == 150);
  CHECK(table.columns() == std::vector<std::string>{"sepal_length", "sepal_width", "petal_length",
                                                    "petal_width", "species"});
  const auto [classes, names] = table.categories("species");
  CHECK(names == std::vector<std::string>{"setosa", "versicolor", "virginica"});
  const std::vector<float> features = table.numbers_but("species");
  REQUIRE(features.size() == 600);
  // the UCI repository's iris.data: the first and the last flower, and the sums of its columns
  CHECK(std::vector(features.begin(), features.begin() + 4) == std::vector{5.1f, 3.5f, 1.4f, 0.2f});
  CHECK(std::vector(features.end() - 4, features.end()) == std::vector{5.9f, 3.0f, 5.1f, 1.8f});
  double sums[4] = {};
  for (std::size_t i = 0; i < features.size(); ++i)
    sums[i % 4] += static_cast<double>(features[i]);
  const double wanted[] = {876.5, 458.1, 563.8, 179.8};
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(sums[i] == doctest::Approx(wanted[i]).epsilon(1e-6));
  CHECK(classes[49] == 0);
  CHECK(classes[50] == 1);
  CHECK(classes[149] == 2);
}

TEST_CASE("the numbers of all columns but one") {
  const auto table = [](std::string text) {
    return data::Table::parse({text.begin(), text.end()}, "leaves.csv");
  };
  CHECK(table("a,kind,b\n1,x,2\n3,y,4\n").numbers_but("kind") == std::vector<float>{1, 2, 3, 4});
  CHECK(error_of([&] { table("kind\nx\n").numbers_but("kind"); }) ==
        "gpunet::data::Table: leaves.csv has no column but 'kind' (want numbers beside it)");
}

TEST_CASE("samples and labels are split together, as scikit-learn does") {
  Host host;
  std::vector<float> x(20);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i);
  const Tensor<float, Host> X(host, {5, 2, 2}, x);
  const Tensor<label_t, Host> y(host, {5}, std::vector<label_t>{0, 1, 2, 3, 4});
  const auto [X_train, X_test, y_train, y_test] =
      data::train_test_split(X, y, {.test_size = 2, .random_state = 42});
  // sklearn.model_selection.train_test_split(range(5), test_size=2, random_state=42)
  CHECK(y_train.to_vector() == std::vector<label_t>{2, 0, 3});
  CHECK(y_test.to_vector() == std::vector<label_t>{1, 4});
  CHECK(X_train.sizes() == Sizes{3, 2, 2});
  CHECK(X_test.to_vector() == std::vector<float>{4, 5, 6, 7, 16, 17, 18, 19});
  const Tensor<label_t, Host> few(host, {4}, std::vector<label_t>{0, 1, 2, 3});
  CHECK(error_of([&] { data::train_test_split(X, few); }) ==
        "gpunet::data::train_test_split: samples of shape [5, 2, 2] and targets of shape [4] (want "
        "the same number "
        "of both in front)");
}
