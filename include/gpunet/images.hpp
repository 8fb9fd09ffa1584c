// Image files (PNG, BMP, PNM; others with gpunet/io/stb_image.hpp) and ImageFolder, a dataset of
// them.
#pragma once

#include <gpunet/data/image_folder.hpp>
#include <gpunet/data/transform_image.hpp>
#include <gpunet/io/read_image.hpp>
#include <gpunet/tensor/images.hpp>
