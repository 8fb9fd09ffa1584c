// A library for exchange.py: tensors of gpunet for Python, by DLPack.
#include <gpunet/tensor/dlpack.hpp>
#include <gpunet/tensors.hpp>

using namespace gpunet;

namespace {

Host& device() {
  static Host host({.threads = 1});
  return host;
}
const void* address = nullptr;

}  // namespace

extern "C" {

// Returns a tensor [2, 3] of 0 to 5.
void* make_tensor() {
  Tensor x = reshape(arange<float>(device(), 6), {2, 3});
  address = x.data();
  return to_dlpack(std::move(x));
}
// Returns a view of a tensor: its transpose.
void* make_view() {
  static Tensor x = reshape(arange<index_t>(device(), 6), {2, 3});
  address = x.data();
  return to_dlpack(transpose(x, 0, 1));
}
const void* last_address() {
  return address;
}
// Doubles the elements in place and returns their sum; -1 for what is refused.
double double_in_place(void* managed) {
  try {
    DLPackTensor<float, Host> x =
        from_dlpack<float>(device(), static_cast<dlpack::ManagedTensor*>(managed));
    address = x.data();
    x *= 2;
    return static_cast<double>(sum(x).item());
  } catch (const Error&) {
    return -1;
  }
}
}
