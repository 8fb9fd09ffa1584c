// Device memory that detects elements a kernel forgot to write and writes past the end.
#pragma once

#include <gpunet/tensor/guarded_buffer.hpp>

using gpunet::GuardedBuffer;
