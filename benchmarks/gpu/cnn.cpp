#include "training.cuh"

template std::unique_ptr<bench::Work> bench::gpu::make_training<bench::CnnNet, bench::Adam<1>>(
    Cuda&, index_t, bool);
