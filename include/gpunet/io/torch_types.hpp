// The names that PyTorch's files have for types and functions.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include <gpunet/io/dtype.hpp>

namespace gpunet::io::detail {

struct TorchType {
  std::string_view name;  // as a pickle has it, "module.name"
  Dtype dtype;
};

// Storages whose name tells their type.
inline constexpr TorchType torch_storages[] = {
    {"torch.FloatStorage", Dtype::F32},        {"torch.DoubleStorage", Dtype::F64},
    {"torch.HalfStorage", Dtype::F16},         {"torch.BFloat16Storage", Dtype::BF16},
    {"torch.LongStorage", Dtype::I64},         {"torch.IntStorage", Dtype::I32},
    {"torch.ShortStorage", Dtype::I16},        {"torch.CharStorage", Dtype::I8},
    {"torch.ByteStorage", Dtype::U8},          {"torch.BoolStorage", Dtype::BOOL},
    {"torch.ComplexFloatStorage", Dtype::C64}, {"torch.ComplexDoubleStorage", Dtype::C128},
};

// Types whose tensors have an untyped storage and say their type themselves.
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
                                  rebuild_parameter = "torch._utils._rebuild_parameter";

// Every global that a file may name. Those that follow the types are of tensors, and of what checkpoints hold beside
// them: shapes, devices, the dtypes of options, the milestones of a schedule.
inline constexpr auto torch_globals = [] {
  constexpr std::string_view others[] = {
      untyped_storage,      rebuild_tensor,  rebuild_tensor_v2, rebuild_tensor_v3,
      rebuild_parameter,    "torch.Size",    "torch.device",    "collections.OrderedDict",
      "torch.float32",      "torch.float64", "torch.float16",   "torch.bfloat16",
      "torch.int64",        "torch.int32",   "torch.int16",     "torch.int8",
      "torch.uint8",        "torch.bool",    "torch.complex64", "torch.complex128",
      "collections.Counter"};
  std::array<std::string_view, std::size(torch_storages) + std::size(torch_dtypes) + std::size(others)> names{};
  std::size_t n = 0;
  for (const TorchType& type : torch_storages)
    names[n++] = type.name;
  for (const TorchType& type : torch_dtypes)
    names[n++] = type.name;
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
