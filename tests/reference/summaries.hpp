// Printed by summaries.py with PyTorch 2.15.0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gpunet/core/shape.hpp>

namespace reference {

// What torchinfo 1.8.0 says of one layer.
struct SummaryRowReference {
  std::string class_name, var_name;
  gpunet::Sizes input_size, output_size;
  std::int64_t num_params, mult_adds, output_bytes, param_bytes;
};
// And of a network.
struct SummaryReference {
  std::vector<SummaryRowReference> layers;
  std::int64_t total_params, trainable_params, total_mult_adds, total_output_bytes,
      total_param_bytes;
  std::string table;  // as torchinfo.summary prints it with columns of 20 characters
  std::string repr;   // as PyTorch prints the network
};

inline const SummaryReference lenet_of_1{
    .layers =
        {
            {"Conv2d", "conv1", {1, 3, 32, 32}, {1, 6, 28, 28}, 456, 357504, 18816, 1824},
            {"ReLU", "1", {1, 6, 28, 28}, {1, 6, 28, 28}, 0, 0, 18816, 0},
            {"MaxPool2d", "2", {1, 6, 28, 28}, {1, 6, 14, 14}, 0, 0, 4704, 0},
            {"Conv2d", "conv2", {1, 6, 14, 14}, {1, 16, 10, 10}, 2416, 241600, 6400, 9664},
            {"ReLU", "4", {1, 16, 10, 10}, {1, 16, 10, 10}, 0, 0, 6400, 0},
            {"MaxPool2d", "5", {1, 16, 10, 10}, {1, 16, 5, 5}, 0, 0, 1600, 0},
            {"Flatten", "6", {1, 16, 5, 5}, {1, 400}, 0, 0, 1600, 0},
            {"Linear", "fc1", {1, 400}, {1, 120}, 48120, 48120, 480, 192480},
            {"ReLU", "8", {1, 120}, {1, 120}, 0, 0, 480, 0},
            {"Linear", "fc2", {1, 120}, {1, 84}, 10164, 10164, 336, 40656},
            {"ReLU", "10", {1, 84}, {1, 84}, 0, 0, 336, 0},
            {"Linear", "fc3", {1, 84}, {1, 10}, 850, 850, 40, 3400},
        },
    .total_params = 62006,
    .trainable_params = 62006,
    .total_mult_adds = 658238,
    .total_output_bytes = 52144,
    .total_param_bytes = 248024,
    .table =
        R"(====================================================================================================
Layer (type (var_name):depth-idx)        Output Shape         Param #              Mult-Adds
====================================================================================================
Sequential (Sequential)                  [1, 10]              --                   --
├─Conv2d (conv1): 1-1                    [1, 6, 28, 28]       456                  357,504
├─ReLU (1): 1-2                          [1, 6, 28, 28]       --                   --
├─MaxPool2d (2): 1-3                     [1, 6, 14, 14]       --                   --
├─Conv2d (conv2): 1-4                    [1, 16, 10, 10]      2,416                241,600
├─ReLU (4): 1-5                          [1, 16, 10, 10]      --                   --
├─MaxPool2d (5): 1-6                     [1, 16, 5, 5]        --                   --
├─Flatten (6): 1-7                       [1, 400]             --                   --
├─Linear (fc1): 1-8                      [1, 120]             48,120               48,120
├─ReLU (8): 1-9                          [1, 120]             --                   --
├─Linear (fc2): 1-10                     [1, 84]              10,164               10,164
├─ReLU (10): 1-11                        [1, 84]              --                   --
├─Linear (fc3): 1-12                     [1, 10]              850                  850
====================================================================================================
Total params: 62,006
Trainable params: 62,006
Non-trainable params: 0
Total mult-adds (M): 0.66
====================================================================================================
Input size (MB): 0.01
Forward/backward pass size (MB): 0.05
Params size (MB): 0.25
Estimated Total Size (MB): 0.31
====================================================================================================)",
    .repr = R"(Sequential(
  (conv1): Conv2d(3, 6, kernel_size=(5, 5), stride=(1, 1))
  (1): ReLU()
  (2): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
  (conv2): Conv2d(6, 16, kernel_size=(5, 5), stride=(1, 1))
  (4): ReLU()
  (5): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
  (6): Flatten(start_dim=1, end_dim=-1)
  (fc1): Linear(in_features=400, out_features=120, bias=True)
  (8): ReLU()
  (fc2): Linear(in_features=120, out_features=84, bias=True)
  (10): ReLU()
  (fc3): Linear(in_features=84, out_features=10, bias=True)
))",
};

inline const SummaryReference lenet_of_4{
    .layers =
        {
            {"Conv2d", "conv1", {4, 3, 32, 32}, {4, 6, 28, 28}, 456, 1430016, 75264, 1824},
            {"ReLU", "1", {4, 6, 28, 28}, {4, 6, 28, 28}, 0, 0, 75264, 0},
            {"MaxPool2d", "2", {4, 6, 28, 28}, {4, 6, 14, 14}, 0, 0, 18816, 0},
            {"Conv2d", "conv2", {4, 6, 14, 14}, {4, 16, 10, 10}, 2416, 966400, 25600, 9664},
            {"ReLU", "4", {4, 16, 10, 10}, {4, 16, 10, 10}, 0, 0, 25600, 0},
            {"MaxPool2d", "5", {4, 16, 10, 10}, {4, 16, 5, 5}, 0, 0, 6400, 0},
            {"Flatten", "6", {4, 16, 5, 5}, {4, 400}, 0, 0, 6400, 0},
            {"Linear", "fc1", {4, 400}, {4, 120}, 48120, 192480, 1920, 192480},
            {"ReLU", "8", {4, 120}, {4, 120}, 0, 0, 1920, 0},
            {"Linear", "fc2", {4, 120}, {4, 84}, 10164, 40656, 1344, 40656},
            {"ReLU", "10", {4, 84}, {4, 84}, 0, 0, 1344, 0},
            {"Linear", "fc3", {4, 84}, {4, 10}, 850, 3400, 160, 3400},
        },
    .total_params = 62006,
    .trainable_params = 62006,
    .total_mult_adds = 2632952,
    .total_output_bytes = 208576,
    .total_param_bytes = 248024,
    .table =
        R"(====================================================================================================
Layer (type (var_name):depth-idx)        Output Shape         Param #              Mult-Adds
====================================================================================================
Sequential (Sequential)                  [4, 10]              --                   --
├─Conv2d (conv1): 1-1                    [4, 6, 28, 28]       456                  1,430,016
├─ReLU (1): 1-2                          [4, 6, 28, 28]       --                   --
├─MaxPool2d (2): 1-3                     [4, 6, 14, 14]       --                   --
├─Conv2d (conv2): 1-4                    [4, 16, 10, 10]      2,416                966,400
├─ReLU (4): 1-5                          [4, 16, 10, 10]      --                   --
├─MaxPool2d (5): 1-6                     [4, 16, 5, 5]        --                   --
├─Flatten (6): 1-7                       [4, 400]             --                   --
├─Linear (fc1): 1-8                      [4, 120]             48,120               192,480
├─ReLU (8): 1-9                          [4, 120]             --                   --
├─Linear (fc2): 1-10                     [4, 84]              10,164               40,656
├─ReLU (10): 1-11                        [4, 84]              --                   --
├─Linear (fc3): 1-12                     [4, 10]              850                  3,400
====================================================================================================
Total params: 62,006
Trainable params: 62,006
Non-trainable params: 0
Total mult-adds (M): 2.63
====================================================================================================
Input size (MB): 0.05
Forward/backward pass size (MB): 0.21
Params size (MB): 0.25
Estimated Total Size (MB): 0.51
====================================================================================================)",
    .repr = R"(Sequential(
  (conv1): Conv2d(3, 6, kernel_size=(5, 5), stride=(1, 1))
  (1): ReLU()
  (2): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
  (conv2): Conv2d(6, 16, kernel_size=(5, 5), stride=(1, 1))
  (4): ReLU()
  (5): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
  (6): Flatten(start_dim=1, end_dim=-1)
  (fc1): Linear(in_features=400, out_features=120, bias=True)
  (8): ReLU()
  (fc2): Linear(in_features=120, out_features=84, bias=True)
  (10): ReLU()
  (fc3): Linear(in_features=84, out_features=10, bias=True)
))",
};

inline const SummaryReference lenet_of_doubles{
    .layers =
        {
            {"Conv2d", "conv1", {256, 3, 32, 32}, {256, 6, 28, 28}, 456, 91521024, 9633792, 3648},
            {"ReLU", "1", {256, 6, 28, 28}, {256, 6, 28, 28}, 0, 0, 9633792, 0},
            {"MaxPool2d", "2", {256, 6, 28, 28}, {256, 6, 14, 14}, 0, 0, 2408448, 0},
            {"Conv2d",
             "conv2",
             {256, 6, 14, 14},
             {256, 16, 10, 10},
             2416,
             61849600,
             3276800,
             19328},
            {"ReLU", "4", {256, 16, 10, 10}, {256, 16, 10, 10}, 0, 0, 3276800, 0},
            {"MaxPool2d", "5", {256, 16, 10, 10}, {256, 16, 5, 5}, 0, 0, 819200, 0},
            {"Flatten", "6", {256, 16, 5, 5}, {256, 400}, 0, 0, 819200, 0},
            {"Linear", "fc1", {256, 400}, {256, 120}, 48120, 12318720, 245760, 384960},
            {"ReLU", "8", {256, 120}, {256, 120}, 0, 0, 245760, 0},
            {"Linear", "fc2", {256, 120}, {256, 84}, 10164, 2601984, 172032, 81312},
            {"ReLU", "10", {256, 84}, {256, 84}, 0, 0, 172032, 0},
            {"Linear", "fc3", {256, 84}, {256, 10}, 850, 217600, 20480, 6800},
        },
    .total_params = 62006,
    .trainable_params = 62006,
    .total_mult_adds = 168508928,
    .total_output_bytes = 26697728,
    .total_param_bytes = 496048,
    .table =
        R"(====================================================================================================
Layer (type (var_name):depth-idx)        Output Shape         Param #              Mult-Adds
====================================================================================================
Sequential (Sequential)                  [256, 10]            --                   --
├─Conv2d (conv1): 1-1                    [256, 6, 28, 28]     456                  91,521,024
├─ReLU (1): 1-2                          [256, 6, 28, 28]     --                   --
├─MaxPool2d (2): 1-3                     [256, 6, 14, 14]     --                   --
├─Conv2d (conv2): 1-4                    [256, 16, 10, 10]    2,416                61,849,600
├─ReLU (4): 1-5                          [256, 16, 10, 10]    --                   --
├─MaxPool2d (5): 1-6                     [256, 16, 5, 5]      --                   --
├─Flatten (6): 1-7                       [256, 400]           --                   --
├─Linear (fc1): 1-8                      [256, 120]           48,120               12,318,720
├─ReLU (8): 1-9                          [256, 120]           --                   --
├─Linear (fc2): 1-10                     [256, 84]            10,164               2,601,984
├─ReLU (10): 1-11                        [256, 84]            --                   --
├─Linear (fc3): 1-12                     [256, 10]            850                  217,600
====================================================================================================
Total params: 62,006
Trainable params: 62,006
Non-trainable params: 0
Total mult-adds (M): 168.51
====================================================================================================
Input size (MB): 6.29
Forward/backward pass size (MB): 26.70
Params size (MB): 0.50
Estimated Total Size (MB): 33.49
====================================================================================================)",
    .repr = R"(Sequential(
  (conv1): Conv2d(3, 6, kernel_size=(5, 5), stride=(1, 1))
  (1): ReLU()
  (2): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
  (conv2): Conv2d(6, 16, kernel_size=(5, 5), stride=(1, 1))
  (4): ReLU()
  (5): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
  (6): Flatten(start_dim=1, end_dim=-1)
  (fc1): Linear(in_features=400, out_features=120, bias=True)
  (8): ReLU()
  (fc2): Linear(in_features=120, out_features=84, bias=True)
  (10): ReLU()
  (fc3): Linear(in_features=84, out_features=10, bias=True)
))",
};

inline const SummaryReference iris_of_120{
    .layers =
        {
            {"Linear", "fc1", {120, 4}, {120, 8}, 40, 4800, 3840, 160},
            {"ReLU", "1", {120, 8}, {120, 8}, 0, 0, 3840, 0},
            {"Linear", "fc2", {120, 8}, {120, 9}, 81, 9720, 4320, 324},
            {"ReLU", "3", {120, 9}, {120, 9}, 0, 0, 4320, 0},
            {"Linear", "out", {120, 9}, {120, 3}, 30, 3600, 1440, 120},
        },
    .total_params = 151,
    .trainable_params = 151,
    .total_mult_adds = 18120,
    .total_output_bytes = 19200,
    .total_param_bytes = 604,
    .table =
        R"(====================================================================================================
Layer (type (var_name):depth-idx)        Output Shape         Param #              Mult-Adds
====================================================================================================
Sequential (Sequential)                  [120, 3]             --                   --
├─Linear (fc1): 1-1                      [120, 8]             40                   4,800
├─ReLU (1): 1-2                          [120, 8]             --                   --
├─Linear (fc2): 1-3                      [120, 9]             81                   9,720
├─ReLU (3): 1-4                          [120, 9]             --                   --
├─Linear (out): 1-5                      [120, 3]             30                   3,600
====================================================================================================
Total params: 151
Trainable params: 151
Non-trainable params: 0
Total mult-adds (M): 0.02
====================================================================================================
Input size (MB): 0.00
Forward/backward pass size (MB): 0.02
Params size (MB): 0.00
Estimated Total Size (MB): 0.02
====================================================================================================)",
    .repr = R"(Sequential(
  (fc1): Linear(in_features=4, out_features=8, bias=True)
  (1): ReLU()
  (fc2): Linear(in_features=8, out_features=9, bias=True)
  (3): ReLU()
  (out): Linear(in_features=9, out_features=3, bias=True)
))",
};

inline const SummaryReference nested_of_8{
    .layers =
        {
            {"Conv2d", "features.0", {8, 3, 32, 32}, {8, 6, 28, 28}, 456, 2860032, 150528, 1824},
            {"ReLU", "features.1", {8, 6, 28, 28}, {8, 6, 28, 28}, 0, 0, 150528, 0},
            {"MaxPool2d", "features.2", {8, 6, 28, 28}, {8, 6, 14, 14}, 0, 0, 37632, 0},
            {"Conv2d",
             "features.deep.0",
             {8, 6, 14, 14},
             {8, 16, 10, 10},
             2416,
             1932800,
             51200,
             9664},
            {"ReLU", "features.deep.act", {8, 16, 10, 10}, {8, 16, 10, 10}, 0, 0, 51200, 0},
            {"MaxPool2d", "features.4", {8, 16, 10, 10}, {8, 16, 5, 5}, 0, 0, 12800, 0},
            {"Flatten", "1", {8, 16, 5, 5}, {8, 400}, 0, 0, 12800, 0},
            {"Linear", "2.0", {8, 400}, {8, 84}, 33684, 269472, 2688, 134736},
            {"ReLU", "2.1", {8, 84}, {8, 84}, 0, 0, 2688, 0},
            {"Linear", "3", {8, 84}, {8, 10}, 850, 6800, 320, 3400},
        },
    .total_params = 37406,
    .trainable_params = 37406,
    .total_mult_adds = 5069104,
    .total_output_bytes = 409472,
    .total_param_bytes = 149624,
    .table =
        R"(====================================================================================================
Layer (type (var_name):depth-idx)        Output Shape         Param #              Mult-Adds
====================================================================================================
Sequential (Sequential)                  [8, 10]              --                   --
├─Sequential (features): 1-1             [8, 16, 5, 5]        --                   --
│    └─Conv2d (0): 2-1                   [8, 6, 28, 28]       456                  2,860,032
│    └─ReLU (1): 2-2                     [8, 6, 28, 28]       --                   --
│    └─MaxPool2d (2): 2-3                [8, 6, 14, 14]       --                   --
│    └─Sequential (deep): 2-4            [8, 16, 10, 10]      --                   --
│    │    └─Conv2d (0): 3-1              [8, 16, 10, 10]      2,416                1,932,800
│    │    └─ReLU (act): 3-2              [8, 16, 10, 10]      --                   --
│    └─MaxPool2d (4): 2-5                [8, 16, 5, 5]        --                   --
├─Flatten (1): 1-2                       [8, 400]             --                   --
├─Sequential (2): 1-3                    [8, 84]              --                   --
│    └─Linear (0): 2-6                   [8, 84]              33,684               269,472
│    └─ReLU (1): 2-7                     [8, 84]              --                   --
├─Linear (3): 1-4                        [8, 10]              850                  6,800
====================================================================================================
Total params: 37,406
Trainable params: 37,406
Non-trainable params: 0
Total mult-adds (M): 5.07
====================================================================================================
Input size (MB): 0.10
Forward/backward pass size (MB): 0.41
Params size (MB): 0.15
Estimated Total Size (MB): 0.66
====================================================================================================)",
    .repr = R"(Sequential(
  (features): Sequential(
    (0): Conv2d(3, 6, kernel_size=(5, 5), stride=(1, 1))
    (1): ReLU()
    (2): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
    (deep): Sequential(
      (0): Conv2d(6, 16, kernel_size=(5, 5), stride=(1, 1))
      (act): ReLU()
    )
    (4): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
  )
  (1): Flatten(start_dim=1, end_dim=-1)
  (2): Sequential(
    (0): Linear(in_features=400, out_features=84, bias=True)
    (1): ReLU()
  )
  (3): Linear(in_features=84, out_features=10, bias=True)
))",
};

inline const SummaryReference normalized_of_64{
    .layers =
        {
            {"Conv2d", "0", {64, 3, 32, 32}, {64, 8, 16, 16}, 224, 3670016, 524288, 896},
            {"BatchNorm2d", "1", {64, 8, 16, 16}, {64, 8, 16, 16}, 16, 1024, 524288, 64},
            {"ReLU", "2", {64, 8, 16, 16}, {64, 8, 16, 16}, 0, 0, 524288, 0},
            {"MaxPool2d", "3", {64, 8, 16, 16}, {64, 8, 8, 8}, 0, 0, 131072, 0},
            {"Flatten", "4", {64, 8, 8, 8}, {64, 512}, 0, 0, 131072, 0},
            {"Linear", "5", {64, 512}, {64, 10}, 5130, 328320, 2560, 20520},
            {"BatchNorm1d",
             "a_norm_with_a_name_that_is_long",
             {64, 10},
             {64, 10},
             20,
             1280,
             2560,
             80},
            {"Softmax", "7", {64, 10}, {64, 10}, 0, 0, 2560, 0},
        },
    .total_params = 5390,
    .trainable_params = 5390,
    .total_mult_adds = 4000640,
    .total_output_bytes = 2107392,
    .total_param_bytes = 21560,
    .table =
        R"(========================================================================================================================
Layer (type (var_name):depth-idx)                            Output Shape         Param #              Mult-Adds
========================================================================================================================
Sequential (Sequential)                                      [64, 10]             --                   --
├─Conv2d (0): 1-1                                            [64, 8, 16, 16]      224                  3,670,016
├─BatchNorm2d (1): 1-2                                       [64, 8, 16, 16]      16                   1,024
├─ReLU (2): 1-3                                              [64, 8, 16, 16]      --                   --
├─MaxPool2d (3): 1-4                                         [64, 8, 8, 8]        --                   --
├─Flatten (4): 1-5                                           [64, 512]            --                   --
├─Linear (5): 1-6                                            [64, 10]             5,130                328,320
├─BatchNorm1d (a_norm_with_a_name_that_is_long): 1-7         [64, 10]             20                   1,280
├─Softmax (7): 1-8                                           [64, 10]             --                   --
========================================================================================================================
Total params: 5,390
Trainable params: 5,390
Non-trainable params: 0
Total mult-adds (M): 4.00
========================================================================================================================
Input size (MB): 0.79
Forward/backward pass size (MB): 2.11
Params size (MB): 0.02
Estimated Total Size (MB): 2.92
========================================================================================================================)",
    .repr = R"(Sequential(
  (0): Conv2d(3, 8, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1))
  (1): BatchNorm2d(8, eps=1e-05, momentum=None, affine=True, bias=True, track_running_stats=True)
  (2): ReLU()
  (3): MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)
  (4): Flatten(start_dim=1, end_dim=-1)
  (5): Linear(in_features=512, out_features=10, bias=True)
  (a_norm_with_a_name_that_is_long): BatchNorm1d(10, eps=0.0001, momentum=0.25, affine=True, bias=True, track_running_stats=True)
  (7): Softmax(dim=1)
))",
};

inline const SummaryReference convolutions_of_5{
    .layers =
        {
            {"Conv2d", "0", {5, 4, 6, 7}, {5, 8, 6, 7}, 80, 16800, 6720, 320},
            {"Conv2d", "1", {5, 8, 6, 7}, {5, 6, 6, 7}, 294, 61740, 5040, 1176},
            {"ConvTranspose2d", "2", {5, 6, 6, 7}, {5, 4, 12, 14}, 112, 94080, 13440, 448},
            {"ConvTranspose2d", "3", {5, 4, 12, 14}, {5, 3, 24, 14}, 72, 120960, 20160, 288},
        },
    .total_params = 558,
    .trainable_params = 558,
    .total_mult_adds = 293580,
    .total_output_bytes = 90720,
    .total_param_bytes = 2232,
    .table =
        R"(====================================================================================================
Layer (type (var_name):depth-idx)        Output Shape         Param #              Mult-Adds
====================================================================================================
Sequential (Sequential)                  [5, 3, 24, 14]       --                   --
├─Conv2d (0): 1-1                        [5, 8, 6, 7]         80                   16,800
├─Conv2d (1): 1-2                        [5, 6, 6, 7]         294                  61,740
├─ConvTranspose2d (2): 1-3               [5, 4, 12, 14]       112                  94,080
├─ConvTranspose2d (3): 1-4               [5, 3, 24, 14]       72                   120,960
====================================================================================================
Total params: 558
Trainable params: 558
Non-trainable params: 0
Total mult-adds (M): 0.29
====================================================================================================
Input size (MB): 0.00
Forward/backward pass size (MB): 0.09
Params size (MB): 0.00
Estimated Total Size (MB): 0.10
====================================================================================================)",
    .repr = R"(Sequential(
  (0): Conv2d(4, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=4)
  (1): Conv2d(8, 6, kernel_size=(3, 2), stride=(1, 1), padding=same, dilation=(2, 2))
  (2): ConvTranspose2d(6, 4, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), output_padding=(1, 1), groups=2)
  (3): ConvTranspose2d(4, 3, kernel_size=(2, 3), stride=(2, 1), padding=(0, 1), bias=False)
))",
};

inline const SummaryReference rows_of_3{
    .layers =
        {
            {"Conv1d", "0", {3, 4, 15}, {3, 6, 6}, 42, 756, 432, 168},
            {"ConvTranspose1d", "1", {3, 6, 6}, {3, 4, 12}, 96, 3456, 576, 384},
        },
    .total_params = 138,
    .trainable_params = 138,
    .total_mult_adds = 4212,
    .total_output_bytes = 2016,
    .total_param_bytes = 552,
    .table =
        R"(====================================================================================================
Layer (type (var_name):depth-idx)        Output Shape         Param #              Mult-Adds
====================================================================================================
Sequential (Sequential)                  [3, 4, 12]           --                   --
├─Conv1d (0): 1-1                        [3, 6, 6]            42                   756
├─ConvTranspose1d (1): 1-2               [3, 4, 12]           96                   3,456
====================================================================================================
Total params: 138
Trainable params: 138
Non-trainable params: 0
Total mult-adds (M): 0.00
====================================================================================================
Input size (MB): 0.00
Forward/backward pass size (MB): 0.00
Params size (MB): 0.00
Estimated Total Size (MB): 0.00
====================================================================================================)",
    .repr = R"(Sequential(
  (0): Conv1d(4, 6, kernel_size=(3,), stride=(2,), dilation=(2,), groups=2)
  (1): ConvTranspose1d(6, 4, kernel_size=(4,), stride=(2,), padding=(1,), bias=False)
))",
};

inline const SummaryReference wide_of_32{
    .layers =
        {
            {"Conv2d",
             "0",
             {32, 64, 32, 32},
             {32, 512, 32, 32},
             295424,
             9680453632,
             67108864,
             1181696},
            {"BatchNorm2d", "1", {32, 512, 32, 32}, {32, 512, 32, 32}, 1024, 32768, 67108864, 4096},
            {"Flatten", "2", {32, 512, 32, 32}, {32, 524288}, 0, 0, 67108864, 0},
            {"Linear", "3", {32, 524288}, {32, 5000}, 2621445000, 83886240000, 640000, 10485780000},
        },
    .total_params = 2621741448,
    .trainable_params = 2621741448,
    .total_mult_adds = 93566726400,
    .total_output_bytes = 269715456,
    .total_param_bytes = 10486965792,
    .table =
        R"(====================================================================================================
Layer (type (var_name):depth-idx)        Output Shape         Param #              Mult-Adds
====================================================================================================
Sequential (Sequential)                  [32, 5000]           --                   --
├─Conv2d (0): 1-1                        [32, 512, 32, 32]    295,424              9,680,453,632
├─BatchNorm2d (1): 1-2                   [32, 512, 32, 32]    1,024                32,768
├─Flatten (2): 1-3                       [32, 524288]         --                   --
├─Linear (3): 1-4                        [32, 5000]           2,621,445,000        83,886,240,000
====================================================================================================
Total params: 2,621,741,448
Trainable params: 2,621,741,448
Non-trainable params: 0
Total mult-adds (G): 93.57
====================================================================================================
Input size (MB): 8.39
Forward/backward pass size (MB): 269.72
Params size (MB): 10486.97
Estimated Total Size (MB): 10765.07
====================================================================================================)",
    .repr = R"(Sequential(
  (0): Conv2d(64, 512, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
  (1): BatchNorm2d(512, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
  (2): Flatten(start_dim=1, end_dim=-1)
  (3): Linear(in_features=524288, out_features=5000, bias=True)
))",
};

inline const SummaryReference wide_of_1024{
    .layers =
        {
            {"Conv2d",
             "0",
             {1024, 64, 32, 32},
             {1024, 512, 32, 32},
             295424,
             309774516224,
             2147483648,
             1181696},
            {"BatchNorm2d",
             "1",
             {1024, 512, 32, 32},
             {1024, 512, 32, 32},
             1024,
             1048576,
             2147483648,
             4096},
            {"Flatten", "2", {1024, 512, 32, 32}, {1024, 524288}, 0, 0, 2147483648, 0},
            {"Linear",
             "3",
             {1024, 524288},
             {1024, 5000},
             2621445000,
             2684359680000,
             20480000,
             10485780000},
        },
    .total_params = 2621741448,
    .trainable_params = 2621741448,
    .total_mult_adds = 2994135244800,
    .total_output_bytes = 8630894592,
    .total_param_bytes = 10486965792,
    .table =
        R"(====================================================================================================
Layer (type (var_name):depth-idx)        Output Shape         Param #              Mult-Adds
====================================================================================================
Sequential (Sequential)                  [1024, 5000]         --                   --
├─Conv2d (0): 1-1                        [1024, 512, 32, 32]  295,424              309,774,516,224
├─BatchNorm2d (1): 1-2                   [1024, 512, 32, 32]  1,024                1,048,576
├─Flatten (2): 1-3                       [1024, 524288]       --                   --
├─Linear (3): 1-4                        [1024, 5000]         2,621,445,000        2,684,359,680,000
====================================================================================================
Total params: 2,621,741,448
Trainable params: 2,621,741,448
Non-trainable params: 0
Total mult-adds (T): 2.99
====================================================================================================
Input size (MB): 268.44
Forward/backward pass size (MB): 8630.89
Params size (MB): 10486.97
Estimated Total Size (MB): 19386.30
====================================================================================================)",
    .repr = R"(Sequential(
  (0): Conv2d(64, 512, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
  (1): BatchNorm2d(512, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
  (2): Flatten(start_dim=1, end_dim=-1)
  (3): Linear(in_features=524288, out_features=5000, bias=True)
))",
};

}  // namespace reference
