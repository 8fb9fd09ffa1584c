// The devices that a test runs on:
//   TEST_CASE_TEMPLATE("...", D, GPUNET_TEST_DEVICES) { auto& device = test_device<D>(); }
#pragma once

#include <algorithm>
#include <concepts>
#include <doctest/doctest.h>

#include <gpunet/core/launch.hpp>
#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/device/host/sum_each.hpp>

#ifndef GPUNET_TEST_CUDA_ALONE
#define GPUNET_TEST_CUDA_ALONE 0  // 1: the tests of Host are those of another program
#endif
#if GPUNET_CUDA && GPUNET_TEST_CUDA_ALONE
#define GPUNET_TEST_DEVICES gpunet::Cuda
#elif GPUNET_CUDA
#define GPUNET_TEST_DEVICES gpunet::Host, gpunet::Cuda
#else
#define GPUNET_TEST_DEVICES gpunet::Host
#endif

// Names by which ctest distinguishes the two halves of the tests.
TYPE_TO_STRING(gpunet::Host);
#if GPUNET_CUDA
TYPE_TO_STRING(gpunet::Cuda);
#endif

// Returns the device of kind D that all tests of a program share; created on the first call.
template <class D>
D& test_device() {
  if constexpr (std::same_as<D, gpunet::Host>) {
    static gpunet::Host host({.threads = 2});
    return host;
  } else {
    // Each process of a machine has its own, if there are enough.
    static D cuda(
        static_cast<int>(gpunet::launch_of_process().local_rank % std::max(D::device_count(), 1)));
    return cuda;
  }
}
