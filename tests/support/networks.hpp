// Networks that several tests use.
#pragma once

#include <gpunet/gpunet.hpp>

// The network of PyTorch's CIFAR-10 tutorial.
using LeNet =
    gpunet::nn::Sequential<gpunet::nn::Input<3, 32, 32>,
                           gpunet::nn::Named<"conv1", gpunet::nn::Conv2d<6, 5>>, gpunet::nn::ReLU,
                           gpunet::nn::MaxPool2d<2>,
                           gpunet::nn::Named<"conv2", gpunet::nn::Conv2d<16, 5>>, gpunet::nn::ReLU,
                           gpunet::nn::MaxPool2d<2>, gpunet::nn::Flatten,
                           gpunet::nn::Named<"fc1", gpunet::nn::Linear<120>>, gpunet::nn::ReLU,
                           gpunet::nn::Named<"fc2", gpunet::nn::Linear<84>>, gpunet::nn::ReLU,
                           gpunet::nn::Named<"fc3", gpunet::nn::Linear<10>>>;

// Every kind of layer, small enough for gradient checks and for a simulated GPU.
using SmallNet = gpunet::nn::Sequential<
    gpunet::nn::Input<2, 7, 6>,
    gpunet::nn::Named<"conv", gpunet::nn::Conv2d<3, 3, gpunet::nn::Padding<1>>>, gpunet::nn::ReLU,
    gpunet::nn::MaxPool2d<2>, gpunet::nn::Flatten, gpunet::nn::Linear<5>, gpunet::nn::ReLU,
    gpunet::nn::Named<"out", gpunet::nn::Linear<4>>>;
