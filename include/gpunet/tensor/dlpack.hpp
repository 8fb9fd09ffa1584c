// Tensors to and from other libraries without a copy, by DLPack (https://dmlc.github.io/dlpack):
// PyTorch, NumPy, JAX, CuPy. A header of its own; not in tensors.hpp.
//
//   // to torch.from_dlpack
//   PyCapsule_New(to_dlpack(std::move(tensor)), "dltensor", nullptr)
//   // from torch.utils.dlpack.to_dlpack
//   DLPackTensor<float, Host> x = from_dlpack<float>(host, managed);
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include <gpunet/tensor/expression.hpp>

namespace gpunet {

// The structs of DLPack's C interface, of the same layout as in its dlpack.h; of versions below
// 1.0, which all libraries take.
namespace dlpack {

// Where memory is.
enum DeviceType : std::int32_t { processor = 1, gpu = 2, pinned_host = 3, managed_gpu = 13 };
// The kind of an element.
enum TypeCode : std::uint8_t {
  signed_integer = 0,
  unsigned_integer = 1,
  floating = 2,
  boolean = 6
};

// An array in memory (DLTensor).
struct Array {
  void* data;                 // on the device
  std::int32_t device_type;   // a DeviceType
  std::int32_t device_id;     // number of a GPU
  std::int32_t rank;          // dimensions
  std::uint8_t type_code;     // a TypeCode
  std::uint8_t type_bits;     // of an element
  std::uint16_t type_lanes;   // numbers of an element: 1
  std::int64_t* shape;        // [rank]
  std::int64_t* strides;      // [rank], in elements; null: dense
  std::uint64_t byte_offset;  // of the first element from `data`
};

// An array and who frees it (DLManagedTensor).
struct ManagedTensor {
  Array array;                           // whose memory it owns
  void* manager;                         // of who made it
  void (*deleter)(ManagedTensor* self);  // frees both; may be null
};

}  // namespace dlpack

namespace detail {

template <Element T>
inline constexpr dlpack::TypeCode dlpack_code = std::is_same_v<T, bool>       ? dlpack::boolean
                                                : std::is_floating_point_v<T> ? dlpack::floating
                                                : std::is_unsigned_v<T> ? dlpack::unsigned_integer
                                                                        : dlpack::signed_integer;

// The owner of the memory of a ManagedTensor of gpunet.
template <class Owner>
struct DLPackOwner {
  dlpack::ManagedTensor managed;
  std::array<std::int64_t, Sizes::max_rank> shape, strides;
  Owner owner;  // of the memory
};

template <class T, class D, class Owner>
dlpack::ManagedTensor* export_dlpack(T* data, const D& device, const Sizes& sizes,
                                     const Strides& strides, Owner owner) {
  auto made =
      std::make_unique<DLPackOwner<Owner>>(DLPackOwner<Owner>{{}, {}, {}, std::move(owner)});
  std::copy(sizes.begin(), sizes.end(), made->shape.begin());
  std::copy_n(strides.begin(), sizes.rank(), made->strides.begin());
  dlpack::Array& array = made->managed.array;
  array.data = const_cast<std::remove_const_t<T>*>(data);
  array.device_type = std::is_same_v<D, Host> ? dlpack::processor : dlpack::gpu;
  array.device_id = 0;
  if constexpr (!std::is_same_v<D, Host>) array.device_id = device.ordinal();
  array.rank = sizes.rank();
  array.type_code = dlpack_code<std::remove_const_t<T>>;
  array.type_bits = 8 * sizeof(T);
  array.type_lanes = 1;
  array.shape = made->shape.data();
  array.strides = made->strides.data();
  array.byte_offset = 0;
  made->managed.manager = made.get();
  made->managed.deleter = [](dlpack::ManagedTensor* self) {
    delete static_cast<DLPackOwner<Owner>*>(self->manager);
  };
  return &made.release()->managed;
}

// Throws Error unless an array has elements of this kind on this kind of device, and at most eight
// dimensions.
void check_dlpack(const dlpack::ManagedTensor* managed, dlpack::TypeCode code, int bits,
                  bool on_host, int ordinal);

}  // namespace detail

// Gives a tensor to another library, which frees it by calling deleter(managed), on the thread of
// the device and when its own work on the memory is done. Its device must outlive it. Waits for the
// device.
// Managed: the name of the same struct in DLPack's own header, if a program includes that.
template <class Managed = dlpack::ManagedTensor, class T, class D>
Managed* to_dlpack(Tensor<T, D>&& tensor) {
  static_assert(sizeof(Managed) == sizeof(dlpack::ManagedTensor),
                "gpunet::to_dlpack: the type is not DLManagedTensor");
  auto owner = std::make_unique<Tensor<T, D>>(std::move(tensor));
  D& device = owner->device();
  device.synchronize();
  T* const data = owner->data();
  const Sizes sizes = owner->sizes();
  return reinterpret_cast<Managed*>(
      detail::export_dlpack(data, device, sizes, detail::dense_strides(sizes), std::move(owner)));
}
// Lends the elements of a view, whose tensor must outlive the use.
template <class Managed = dlpack::ManagedTensor, class T, class D>
Managed* to_dlpack(const StridedView<T, D>& view) {
  view.device().synchronize();
  return reinterpret_cast<Managed*>(
      detail::export_dlpack(view.data(), view.device(), view.sizes(), view.strides(), nullptr));
}

// A view of the memory of another library, which it gives back at its end.
template <class T, class D>
class DLPackTensor : public StridedView<T, D> {
 public:
  DLPackTensor(const StridedView<T, D>& view, dlpack::ManagedTensor* managed)
      : StridedView<T, D>(view), managed_(managed, Delete{&view.device()}) {}
  using StridedView<T, D>::operator=;

 private:
  struct Delete {
    D* device = nullptr;
    void operator()(dlpack::ManagedTensor* managed) const {
      if (!managed->deleter) return;
      device->synchronize();  // work that was started reads the memory
      managed->deleter(managed);
    }
  };
  std::unique_ptr<dlpack::ManagedTensor, Delete> managed_;
};

namespace detail {

template <class T, class D>
struct OperandOf<DLPackTensor<T, D>> : OperandOf<StridedView<T, D>> {};

}  // namespace detail

// Takes a tensor of another library, whose work on it has to be done. On an Error it is given back
// as well.
template <detail::Element T, class D, class Managed>
DLPackTensor<T, D> from_dlpack(D& device, Managed* foreign) {
  static_assert(sizeof(Managed) == sizeof(dlpack::ManagedTensor),
                "gpunet::from_dlpack: the type is not DLManagedTensor");
  auto* const managed = reinterpret_cast<dlpack::ManagedTensor*>(foreign);
  require(managed != nullptr,
          "gpunet::from_dlpack: a null pointer, give what the other library made");
  // Owned from here on.
  DLPackTensor<T, D> owner(StridedView<T, D>(device, nullptr, Sizes{0}, {}), managed);
  constexpr bool on_host = std::is_same_v<D, Host>;
  int ordinal = 0;
  if constexpr (!on_host) ordinal = device.ordinal();
  detail::check_dlpack(managed, detail::dlpack_code<T>, 8 * sizeof(T), on_host, ordinal);
  const dlpack::Array& array = managed->array;
  Sizes sizes;
  for (std::int32_t d = 0; d < array.rank; ++d)
    sizes.append(array.shape[d]);
  detail::Strides strides = detail::dense_strides(sizes);
  if (array.strides) std::copy_n(array.strides, array.rank, strides.begin());
  auto* const data = reinterpret_cast<T*>(static_cast<std::byte*>(array.data) + array.byte_offset);
  static_cast<StridedView<T, D>&>(owner) = StridedView<T, D>(device, data, sizes, strides);
  return owner;
}

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/tensor/dlpack.ipp>
#endif
