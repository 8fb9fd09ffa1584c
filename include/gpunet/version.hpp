// The version of gpunet. CMake reads it here.
#pragma once

#define GPUNET_VERSION_MAJOR 0
#define GPUNET_VERSION_MINOR 2
#define GPUNET_VERSION_PATCH 0

// The version as text: "0.2.0".
#define GPUNET_VERSION "0.2.0"
