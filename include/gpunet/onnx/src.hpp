// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/onnx/build.ipp>
#include <gpunet/onnx/model.ipp>
#include <gpunet/onnx/write.ipp>
