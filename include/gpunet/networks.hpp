// Networks of the literature: ResNet, MobileNetV2, U-Net, language models. Their parameters have
// the names of published weights.
#pragma once

#include <gpunet/networks/language.hpp>
#include <gpunet/networks/mobilenet_v2.hpp>
#include <gpunet/networks/resnet.hpp>
#include <gpunet/networks/unet.hpp>
