// Functions of rows that are made of others: of values of networks, and of tensors.
#pragma once

#include <limits>
#include <utility>

namespace gpunet::functions {

// Returns the cosine of the angle between a and b along a dimension, of values or tensors: a b /
// (|a| |b|), where lengths are at least eps.
template <class A, class B>
auto cosine(const A& a, const B& b, int dim, double eps) {
  const auto length = [&](const auto& x) {
    return sqrt(clamp(sum(square(x), dim), eps * eps, std::numeric_limits<double>::infinity()));
  };
  return sum(a * b, dim) / (length(a) * length(b));
}

// Returns that of cosine_embedding_loss, along the last dimension, with PyTorch's eps.
template <class A, class B>
auto cosine_of_embeddings(const A& a, const B& b) {
  constexpr double eps = 1e-12;
  return sum(a * b, -1) / sqrt((sum(square(a), -1) + eps) * (sum(square(b), -1) + eps));
}
// Returns 1 - similarity where t is 1, max(0, similarity - margin) where t is -1.
template <class C, class T>
auto cosine_embedding_error(const C& similarity, const T& t, double margin) {
  return 0.5 * (1 + t) * (1 - similarity) + 0.5 * (1 - t) * relu(similarity - margin);
}

// Returns max(0, a - b + margin), of the distances a of similar and b of dissimilar pairs.
template <class A, class B>
auto triplet_error(A&& a, B&& b, double margin) {
  return relu(std::forward<A>(a) - std::forward<B>(b) + margin);
}

}  // namespace gpunet::functions
