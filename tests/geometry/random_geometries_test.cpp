// The plain versions in double against PyTorch: outputs and all gradients of the configurations in
// reference/random_geometries.txt, ten of each family.
#include <iostream>
#include <numeric>

#include "geometry/check.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;
using namespace geometry;

namespace {

// Returns the inner products with three fixed vectors, uniform in [-1, 1). The file has these in
// place of all numbers: the vectors are independent of an error e, so an error in any place, of any
// number of elements, changes each product by about |e|.
std::array<double, 3> projections(const Numbers& numbers) {
  std::array<double, 3> products{};
  for (std::size_t i = 0; i < products.size(); ++i) {
    Generator random(i + 1);
    const Numbers vector = draw_numbers(static_cast<index_t>(numbers.size()), random);
    products[i] = std::inner_product(numbers.begin(), numbers.end(), vector.begin(), 0.0);
  }
  return products;
}

// Compares with the projections of the output and of the gradients of the input and of each
// parameter.
void check_against_pytorch(const Configuration& c, const std::vector<double>& expected) {
  const Family& family = families().at(c.family);
  Plain plain(family, c, c["eval"] ? nn::Mode::eval : nn::Mode::train);
  Generator random(0);
  const Inputs in = plain.draw(family, c, random);
  const Results results = plain(in);
  const auto bounds = bounds_of_sums(results, in, family.gain(c));

  std::size_t next = 0;
  const auto compare = [&](const std::string& name, const Numbers& numbers, double bound) {
    // Each number differs by at most the bound of float with the rounding of double, times at most
    // 1.
    const double tolerance = static_cast<double>(numbers.size()) * bound * 0x1p-53 / 0x1p-24;
    for (const double product : projections(numbers)) {
      const double wanted = next < expected.size() ? expected[next] : std::nan("");
      if (!(std::abs(product - wanted) <= tolerance))
        FAIL_CHECK(c.text() << ": projection " << next % 3 << " of " << name << " is " << product
                            << ", PyTorch's " << wanted << ", tolerance " << tolerance);
      ++next;
    }
  };
  compare("the output", results.y, bounds.y);
  compare("the gradient of the input", results.dx, bounds.dx);
  for (std::size_t i = 0; i < results.parameters.size(); ++i)
    compare(concat("the gradient of parameter ", i), results.parameters[i], bounds.parameters[i]);
  CHECK(next == expected.size());
}

// Prints configurations of every family. Each has a number of its own: one number draws similar
// sizes for all families.
void print_configurations(index_t each) {
  const auto seed = static_cast<std::uint64_t>(number_of_environment("GPUNET_GEOMETRY_SEED", 1));
  index_t number = 0;
  for (const auto& family : families())
    for (index_t i = 0; i < each; ++i)
      std::cout << draw_configuration<Host>(family.first, seed, number++).text() << '\n';
}

}  // namespace

TEST_CASE("random geometries of plain versions against PyTorch") {
  const index_t printed = number_of_environment("GPUNET_GEOMETRY_LIST", 0);
  if (printed > 0) return print_configurations(printed);

  const ReferenceFile file("random_geometries");
  std::map<std::string, int> compared;
  for (const std::string& text : file.names()) {
    const Configuration c = Configuration::of_text(text);
    check_against_pytorch(c, file.values(text));
    ++compared[c.family];
  }
  for (const auto& family : families()) {
    CAPTURE(family.first);
    CHECK(compared[family.first] == 10);
  }
}
