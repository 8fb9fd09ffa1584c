// The networks of the jobs as types; opponent_jobs.py has the same.
#pragma once

#include <gpunet/gpunet.hpp>

namespace bench {

namespace nn = gpunet::nn;

using IrisNet =
    nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::ReLU, nn::Linear<9>, nn::ReLU, nn::Linear<3>>;

// PyTorch's CIFAR-10 lesson.
using LeNet = nn::Sequential<nn::Input<3, 32, 32>, nn::Conv2d<6, 5>, nn::ReLU, nn::MaxPool2d<2>,  //
                             nn::Conv2d<16, 5>, nn::ReLU, nn::MaxPool2d<2>,                       //
                             nn::Flatten, nn::Linear<120>, nn::ReLU, nn::Linear<84>, nn::ReLU,
                             nn::Linear<10>>;

// Lesson 03: four convolutions, one of them padded.
// .
using CnnNet = nn::Sequential<nn::Input<3, 32, 32>, nn::Conv2d<6, 5>, nn::ReLU, nn::MaxPool2d<2>,
                              // .
                              nn::Conv2d<16, 5, nn::Padding<3>>, nn::ReLU,
                              // .
                              nn::Conv2d<16, 5>, nn::ReLU, nn::MaxPool2d<2>,
                              // .
                              nn::Conv2d<16, 3>, nn::ReLU, nn::MaxPool2d<2>, nn::Flatten,
                              nn::Linear<120>, nn::ReLU, nn::Linear<84>, nn::ReLU, nn::Linear<10>>;

using MlpNet = nn::Sequential<nn::Input<784>, nn::Linear<512>, nn::ReLU, nn::Linear<512>, nn::ReLU,
                              nn::Linear<10>>;

// Regression: one number from a table's 16 columns.
using RegressionNet = nn::Sequential<nn::Input<16>, nn::Linear<64>, nn::ReLU, nn::Linear<64>,
                                     nn::ReLU, nn::Linear<1>>;

using WideNet = nn::Sequential<nn::Input<784>, nn::Linear<4096>, nn::ReLU, nn::Linear<4096>,
                               nn::ReLU, nn::Linear<10>>;

// The first two stages of a VGG network.
using VggNet = nn::Sequential<nn::Input<3, 32, 32>,                                            //
                              nn::Conv2d<64, 3, nn::Padding<1>>, nn::ReLU,                     //
                              nn::Conv2d<64, 3, nn::Padding<1>>, nn::ReLU, nn::MaxPool2d<2>,   //
                              nn::Conv2d<128, 3, nn::Padding<1>>, nn::ReLU,                    //
                              nn::Conv2d<128, 3, nn::Padding<1>>, nn::ReLU, nn::MaxPool2d<2>,  //
                              nn::Flatten, nn::Linear<256>, nn::ReLU, nn::Linear<10>>;

}  // namespace bench
