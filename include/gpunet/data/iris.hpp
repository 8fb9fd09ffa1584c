// The iris flowers: measurements by E. Anderson, published by R. A. Fisher, "The use of multiple
// measurements in taxonomic problems", Annals of Eugenics 7 (1936). The numbers are from the UCI
// Machine Learning Repository, where flowers 35 and 38 differ from Fisher's paper (scikit-learn's
// load_iris has the paper's numbers).
#pragma once

#include <gpunet/data/csv.hpp>

namespace gpunet::data {

// Returns 150 flowers of three species as a table: sepal_length, sepal_width, petal_length and
// petal_width in cm, species.
Table iris();

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/iris.ipp>
#endif
