// The products of a convolution and the bias gradient, one element for each turn of a thread.
#pragma once

namespace {

// Sizes of a convolution, as kernels read them.
struct Axis {
  int size, outputs, kernel, stride, padding, dilation;

  // The element that an output reads by a tap; -1 for a zero.
  __device__ int source(int output, int tap) const {
    const int at = output * stride + tap * dilation - padding;
    return at < size ? at : -1;
  }
  // The output that reads an element by a tap; -1 if none does.
  __device__ int target(int element, int tap) const {
    const int at = element + padding - tap * dilation;
    return at >= 0 && at % stride == 0 && at / stride < outputs ? at / stride : -1;
  }
};
struct Sizes {
  int samples, in, out;
  Axis rows, columns;
  bool rounds;

  __device__ long long x(long long sample, int channel, int row, int column) const {
    return ((sample * in + channel) * rows.size + row) * columns.size + column;
  }
  __device__ long long y(long long sample, int channel, int row, int column) const {
    return ((sample * out + channel) * rows.outputs + row) * columns.outputs + column;
  }
  __device__ int w(int to, int from, int a, int b) const {
    return ((to * in + from) * rows.kernel + a) * columns.kernel + b;
  }
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
  const long long count = 1LL * s.samples * s.out * s.rows.outputs * s.columns.outputs;
  for (long long i = 1LL * blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += 1LL * gridDim.x * blockDim.x) {
    const int column = static_cast<int>(i % s.columns.outputs),
              row = static_cast<int>(i / s.columns.outputs % s.rows.outputs);
    const int out = static_cast<int>(i / s.columns.outputs / s.rows.outputs % s.out);
    const long long sample = i / s.columns.outputs / s.rows.outputs / s.out;
    double sum = bias ? bias[out] : T{};
    for (int in = 0; in < s.in; ++in)
      for (int a = 0; a < s.rows.kernel; ++a)
        for (int b = 0; b < s.columns.kernel; ++b) {
          const int iy = s.rows.source(row, a), ix = s.columns.source(column, b);
          if (iy >= 0 && ix >= 0)
            sum += factor(s, x[s.x(sample, in, iy, ix)]) * factor(s, w[s.w(out, in, a, b)]);
        }
    y[i] = static_cast<T>(rectifies && sum < 0 ? 0.0 : sum);
  }
}

template <class T>
__global__ void input_kernel(Sizes s, const T* dy, const T* w, T beta, T* dx) {
  const long long count = 1LL * s.samples * s.in * s.rows.size * s.columns.size;
  for (long long i = 1LL * blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += 1LL * gridDim.x * blockDim.x) {
    const int ix = static_cast<int>(i % s.columns.size),
              iy = static_cast<int>(i / s.columns.size % s.rows.size);
    const int in = static_cast<int>(i / s.columns.size / s.rows.size % s.in);
    const long long sample = i / s.columns.size / s.rows.size / s.in;
    double sum = 0;
    for (int out = 0; out < s.out; ++out)
      for (int a = 0; a < s.rows.kernel; ++a)
        for (int b = 0; b < s.columns.kernel; ++b) {
          const int row = s.rows.target(iy, a), column = s.columns.target(ix, b);
          if (row >= 0 && column >= 0)
            sum += factor(s, dy[s.y(sample, out, row, column)]) * factor(s, w[s.w(out, in, a, b)]);
        }
    store(dx[i], sum, beta);
  }
}

template <class T>
__global__ void filter_kernel(Sizes s, const T* x, const T* dy, T beta, T* dw) {
  const int width = s.columns.kernel, area = s.rows.kernel * width, count = s.out * s.in * area;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += gridDim.x * blockDim.x) {
    const int b = i % width, a = i / width % s.rows.kernel, in = i / area % s.in,
              out = i / area / s.in;
    double sum = 0;
    for (long long sample = 0; sample < s.samples; ++sample)
      for (int row = 0; row < s.rows.outputs; ++row)
        for (int column = 0; column < s.columns.outputs; ++column) {
          const int iy = s.rows.source(row, a), ix = s.columns.source(column, b);
          if (iy >= 0 && ix >= 0)
            sum += factor(s, x[s.x(sample, in, iy, ix)]) *
                   factor(s, dy[s.y(sample, out, row, column)]);
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
