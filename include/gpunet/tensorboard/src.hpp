// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/tensorboard/summary_writer.ipp>
