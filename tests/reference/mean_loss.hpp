// Printed by mean_loss.py with PyTorch 2.15.0.
#pragma once

namespace reference {

// The mean of 1, 1/2, ... 1/n, in float.
struct MeanLoss {
  int n;
  float mean;
};

inline constexpr MeanLoss mean_losses[] = {
    {1, 0x1.0000000000000p+0f},    {2, 0x1.8000000000000p-1f},      {16, 0x1.b0bbba0000000p-3f},
    {17, 0x1.9e5d6c0000000p-3f},   {18, 0x1.8daa680000000p-3f},     {33, 0x1.fb81b20000000p-4f},
    {120, 0x1.6e83c60000000p-5f},  {129, 0x1.5984a80000000p-5f},    {256, 0x1.87f5460000000p-6f},
    {257, 0x1.86ae580000000p-6f},  {258, 0x1.8569b20000000p-6f},    {300, 0x1.571e040000000p-6f},
    {4097, 0x1.1c94e60000000p-9f}, {70000, 0x1.5f86dc0000000p-13f},
};

}  // namespace reference
