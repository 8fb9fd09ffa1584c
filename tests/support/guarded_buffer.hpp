// Device memory that shows what a kernel did not write, and what it should not have written.
#pragma once

#include <gpunet/tensor/guarded_buffer.hpp>

using gpunet::GuardedBuffer;
