// ONNX models: networks that other programs saved are read, trained, and written.
//   Network net(host, onnx::read("model.onnx"));
//   ...
//   onnx::write(net, "trained.onnx");
#pragma once

#include <gpunet/onnx/build.hpp>
#include <gpunet/onnx/model.hpp>
#include <gpunet/onnx/write.hpp>
