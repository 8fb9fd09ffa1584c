// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/device/device_string.ipp>
#include <gpunet/device/host/draw.ipp>
#include <gpunet/device/host/for_each.ipp>
#include <gpunet/device/host/gemm/gemm.ipp>
#include <gpunet/device/host/host.ipp>
#include <gpunet/device/host/isa.ipp>
#include <gpunet/device/host/lent_memory.ipp>
#include <gpunet/device/host/memory_cache.ipp>
