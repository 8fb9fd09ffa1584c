// The names of types and functions in PyTorch's files.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include <gpunet/io/dtype.hpp>

namespace gpunet::io::detail {

struct TorchType {
  std::string_view name;  // in pickles: "module.name"
  Dtype dtype;
};

// Storages with a type in their name.
inline constexpr TorchType torch_storages[] = {
    {"torch.FloatStorage", Dtype::F32},        {"torch.DoubleStorage", Dtype::F64},
    {"torch.HalfStorage", Dtype::F16},         {"torch.BFloat16Storage", Dtype::BF16},
    {"torch.LongStorage", Dtype::I64},         {"torch.IntStorage", Dtype::I32},
    {"torch.ShortStorage", Dtype::I16},        {"torch.CharStorage", Dtype::I8},
    {"torch.ByteStorage", Dtype::U8},          {"torch.BoolStorage", Dtype::BOOL},
    {"torch.ComplexFloatStorage", Dtype::C64}, {"torch.ComplexDoubleStorage", Dtype::C128},
    {"torch.QInt8Storage", Dtype::I8},         {"torch.QUInt8Storage", Dtype::U8},
    {"torch.QInt32Storage", Dtype::I32},       {"torch.QUInt4x2Storage", Dtype::U8},
    {"torch.QUInt2x4Storage", Dtype::U8},
};

// Types of tensors with an untyped storage: the tensor itself names its type.
inline constexpr TorchType torch_dtypes[] = {
    {"torch.uint16", Dtype::U16},
    {"torch.uint32", Dtype::U32},
    {"torch.uint64", Dtype::U64},
    {"torch.float8_e5m2", Dtype::F8_E5M2},
    {"torch.float8_e4m3fn", Dtype::F8_E4M3},
    {"torch.float8_e8m0fnu", Dtype::F8_E8M0},
    {"torch.float8_e4m3fnuz", Dtype::F8_E4M3FNUZ},
    {"torch.float8_e5m2fnuz", Dtype::F8_E5M2FNUZ},
};

inline constexpr std::string_view untyped_storage = "torch.storage.UntypedStorage",
                                  rebuild_tensor = "torch._utils._rebuild_tensor",
                                  rebuild_tensor_v2 = "torch._utils._rebuild_tensor_v2",
                                  rebuild_tensor_v3 = "torch._utils._rebuild_tensor_v3",
                                  rebuild_parameter = "torch._utils._rebuild_parameter",
                                  rebuild_parameter_with_state =
                                      "torch._utils._rebuild_parameter_with_state",
                                  rebuild_from_type = "torch._tensor._rebuild_from_type_v2";

// A function that makes a tensor without plain, dense elements.
struct TorchOddity {
  std::string_view function, what, advice;
};
inline constexpr TorchOddity torch_oddities[] = {
    {"torch._utils._rebuild_sparse_tensor", "is sparse",
     "(gpunet reads dense ones), save .to_dense()"},
    {"torch._utils._rebuild_qtensor", "is quantized",
     "(gpunet has no such numbers), save .dequantize()"},
    {"torch._utils._rebuild_meta_tensor_no_storage", "has a shape but no data",
     "(its device is \"meta\"), save one with numbers"},
    {"torch._utils._rebuild_device_tensor_from_cpu_tensor", "is packed for its device",
     "(gpunet reads plain ones), save .cpu()"},
};

// The known globals, of tensors and plain data, which torch.load(path, weights_only=True) accepts
// and which occur beside tensors in checkpoints. After the types come tensors, shapes, devices,
// dtypes, byte strings, sets, and the milestones of a schedule. Results of any other global are
// opaque. None of them is imported or called.
inline constexpr auto torch_globals = [] {
  constexpr std::string_view others[] = {untyped_storage,
                                         rebuild_tensor,
                                         rebuild_tensor_v2,
                                         rebuild_tensor_v3,
                                         rebuild_parameter,
                                         rebuild_parameter_with_state,
                                         rebuild_from_type,
                                         "torch.Tensor",
                                         "torch.nn.parameter.Parameter",
                                         "torch.Size",
                                         "torch.device",
                                         "torch.serialization._get_layout",
                                         "torch.float32",
                                         "torch.float64",
                                         "torch.float16",
                                         "torch.bfloat16",
                                         "torch.int64",
                                         "torch.int32",
                                         "torch.int16",
                                         "torch.int8",
                                         "torch.uint8",
                                         "torch.bool",
                                         "torch.complex64",
                                         "torch.complex128",
                                         "torch.complex32",
                                         "torch.float4_e2m1fn_x2",
                                         "torch.qint8",
                                         "torch.quint8",
                                         "torch.qint32",
                                         "torch.quint4x2",
                                         "torch.quint2x4",
                                         "torch.per_tensor_affine",
                                         "torch.per_tensor_symmetric",
                                         "torch.per_channel_affine",
                                         "torch.per_channel_symmetric",
                                         "torch.per_channel_affine_float_qparams",
                                         "collections.OrderedDict",
                                         "collections.Counter",
                                         "_codecs.encode",
                                         "__builtin__.set",
                                         "__builtin__.bytearray",
                                         "__builtin__.complex",
                                         "__builtin__.frozenset",
                                         "builtins.set",
                                         "builtins.frozenset",
                                         "builtins.bytearray",
                                         "builtins.complex"};
  std::array<std::string_view, std::size(torch_storages) + std::size(torch_dtypes) +
                                   std::size(torch_oddities) + std::size(others)>
      names{};
  std::size_t n = 0;
  for (const TorchType& type : torch_storages)
    names[n++] = type.name;
  for (const TorchType& type : torch_dtypes)
    names[n++] = type.name;
  for (const TorchOddity& oddity : torch_oddities)
    names[n++] = oddity.function;
  for (const std::string_view name : others)
    names[n++] = name;
  return names;
}();

template <std::size_t N>
std::optional<Dtype> dtype_named(const TorchType (&types)[N], std::string_view name) {
  for (const TorchType& type : types)
    if (type.name == name) return type.dtype;
  return std::nullopt;
}

template <std::size_t N>
std::string_view name_of(const TorchType (&types)[N], Dtype dtype) {
  for (const TorchType& type : types)
    if (type.dtype == dtype) return type.name;
  return {};
}

}  // namespace gpunet::io::detail
