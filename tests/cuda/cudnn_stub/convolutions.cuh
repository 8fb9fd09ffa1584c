// The products of a convolution and the bias gradient, one element for each turn of a thread.
#pragma once

namespace {

// Sizes of a convolution, as kernels read them.
struct Sizes {
  int samples, in, height, width, out, rows, columns, kernel, stride, padding;
  bool rounds;
};

// To 11 bits, as tensor cores round to tf32.
template <class T>
__device__ double factor(const Sizes& s, T value) {
  if (!s.rounds || sizeof(T) == 8) return value;
  return __uint_as_float((__float_as_uint(static_cast<float>(value)) + 0x1000u) & 0xffffe000u);
}

// What is there for beta = 0 may be no number.
template <class T>
__device__ void store(T& target, double sum, T beta) {
  target = static_cast<T>(beta == 0 ? sum : sum + static_cast<double>(beta * target));
}

template <class T>
__global__ void forward_kernel(Sizes s, const T* x, const T* w, const T* bias, T* y,
                               bool rectifies) {
  const long long count = 1LL * s.samples * s.out * s.rows * s.columns;
  for (long long i = 1LL * blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += 1LL * gridDim.x * blockDim.x) {
    const int column = static_cast<int>(i % s.columns),
              row = static_cast<int>(i / s.columns % s.rows);
    const int out = static_cast<int>(i / s.columns / s.rows % s.out);
    const long long sample = i / s.columns / s.rows / s.out;
    double sum = bias ? bias[out] : T{};
    for (int in = 0; in < s.in; ++in)
      for (int a = 0; a < s.kernel; ++a)
        for (int b = 0; b < s.kernel; ++b) {
          const int iy = row * s.stride + a - s.padding, ix = column * s.stride + b - s.padding;
          if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.width) continue;
          sum += factor(s, x[((sample * s.in + in) * s.height + iy) * s.width + ix]) *
                 factor(s, w[((out * s.in + in) * s.kernel + a) * s.kernel + b]);
        }
    y[i] = static_cast<T>(rectifies && sum < 0 ? 0.0 : sum);
  }
}

template <class T>
__global__ void input_kernel(Sizes s, const T* dy, const T* w, T beta, T* dx) {
  const long long count = 1LL * s.samples * s.in * s.height * s.width;
  for (long long i = 1LL * blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += 1LL * gridDim.x * blockDim.x) {
    const int ix = static_cast<int>(i % s.width), iy = static_cast<int>(i / s.width % s.height);
    const int in = static_cast<int>(i / s.width / s.height % s.in);
    const long long sample = i / s.width / s.height / s.in;
    double sum = 0;
    for (int out = 0; out < s.out; ++out)
      for (int a = 0; a < s.kernel; ++a)
        for (int b = 0; b < s.kernel; ++b) {
          const int row = iy + s.padding - a, column = ix + s.padding - b;
          if (row < 0 || column < 0 || row % s.stride || column % s.stride) continue;
          if (row / s.stride >= s.rows || column / s.stride >= s.columns) continue;
          sum += factor(s, dy[((sample * s.out + out) * s.rows + row / s.stride) * s.columns +
                              column / s.stride]) *
                 factor(s, w[((out * s.in + in) * s.kernel + a) * s.kernel + b]);
        }
    store(dx[i], sum, beta);
  }
}

template <class T>
__global__ void filter_kernel(Sizes s, const T* x, const T* dy, T beta, T* dw) {
  const int count = s.out * s.in * s.kernel * s.kernel;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += gridDim.x * blockDim.x) {
    const int b = i % s.kernel, a = i / s.kernel % s.kernel, in = i / s.kernel / s.kernel % s.in;
    const int out = i / s.kernel / s.kernel / s.in;
    double sum = 0;
    for (long long sample = 0; sample < s.samples; ++sample)
      for (int row = 0; row < s.rows; ++row)
        for (int column = 0; column < s.columns; ++column) {
          const int iy = row * s.stride + a - s.padding, ix = column * s.stride + b - s.padding;
          if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.width) continue;
          sum += factor(s, x[((sample * s.in + in) * s.height + iy) * s.width + ix]) *
                 factor(s, dy[((sample * s.out + out) * s.rows + row) * s.columns + column]);
        }
    store(dw[i], sum, beta);
  }
}

template <class T>
__global__ void bias_kernel(int samples, int channels, int pixels, const T* dy, T beta, T* db) {
  for (int c = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); c < channels;
       c += gridDim.x * blockDim.x) {
    double sum = 0;
    for (long long sample = 0; sample < samples; ++sample)
      for (int p = 0; p < pixels; ++p)
        sum += dy[(sample * channels + c) * pixels + p];
    store(db[c], sum, beta);
  }
}

}  // namespace
