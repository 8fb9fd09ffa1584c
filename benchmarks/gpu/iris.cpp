#include "training.cuh"

template std::unique_ptr<bench::Work> bench::gpu::make_training<bench::IrisNet, bench::Adam<10>>(
    Cuda&, index_t, bool);
