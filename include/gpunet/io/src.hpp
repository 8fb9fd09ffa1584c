// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/io/atomic_file.ipp>
#include <gpunet/io/checkpoint.ipp>
#include <gpunet/io/crc32.ipp>
#include <gpunet/io/deflate.ipp>
#include <gpunet/io/dtype.ipp>
#include <gpunet/io/file.ipp>
#include <gpunet/io/formats.ipp>
#include <gpunet/io/gzip.ipp>
#include <gpunet/io/image.ipp>
#include <gpunet/io/json.ipp>
#include <gpunet/io/mapped_file.ipp>
#include <gpunet/io/match_keys.ipp>
#include <gpunet/io/npy.ipp>
#include <gpunet/io/npz.ipp>
#include <gpunet/io/optimizer_state.ipp>
#include <gpunet/io/pickle.ipp>
#include <gpunet/io/read_image.ipp>
#include <gpunet/io/safetensors.ipp>
#include <gpunet/io/state_dict.ipp>
#include <gpunet/io/tensor_file.ipp>
#include <gpunet/io/torch_file.ipp>
