#include "training.cuh"

template std::unique_ptr<bench::Work> bench::gpu::make_training<bench::LeNet, bench::Momentum>(
    Cuda&, index_t, bool);
