// Images in files: PNG, BMP, PNM (others with gpunet/io/stb_image.hpp), and folders of them as a dataset.
#pragma once

#include <gpunet/data/image_folder.hpp>
#include <gpunet/data/transform_image.hpp>
#include <gpunet/io/read_image.hpp>
