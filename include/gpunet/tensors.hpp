// Tensors that compute: arithmetic and functions, reductions, losses, matrix products, shapes,
// indexing, sorting. Not in gpunet.hpp, because training needs none of it.
#pragma once

#include <gpunet/ops/class_losses.hpp>
#include <gpunet/ops/classes.hpp>
#include <gpunet/tensor/create.hpp>
#include <gpunet/tensor/functions.hpp>
#include <gpunet/tensor/indexing.hpp>
#include <gpunet/tensor/join.hpp>
#include <gpunet/tensor/losses.hpp>
#include <gpunet/tensor/matmul.hpp>
#include <gpunet/tensor/print.hpp>
#include <gpunet/tensor/rand.hpp>
#include <gpunet/tensor/reduce.hpp>
#include <gpunet/tensor/scan.hpp>
#include <gpunet/tensor/shapes.hpp>
#include <gpunet/tensor/sort.hpp>
