#include "jobs.hpp"

#include "convolutions.hpp"
#include "function_networks.hpp"
#include "gemm.hpp"
#include "networks.hpp"
#include "tensors.hpp"
#include "training.hpp"

namespace bench {

namespace {

template <class Net, class Optimizer, index_t Batch, class Loss = nn::CrossEntropyLoss>
Job training(std::string_view name, double goal) {
  return {name,
          {goal},
          cost_of_training(graph_of<Net>(), Batch, Optimizer::numbers),
          [](Host& device) -> std::unique_ptr<Work> {
            return std::make_unique<Training<Net, Optimizer, Host, Loss>>(device, Batch);
          }};
}

template <class Net, index_t Batch = 1>
Job inference(std::string_view name, Goals goals) {
  return {name, goals, cost_of_inference(graph_of<Net>(), Batch),
          [](Host& device) -> std::unique_ptr<Work> {
            return std::make_unique<Inference<Net>>(device, Batch);
          }};
}

// The same with batch normalizations folded.
template <class Net>
Job folded_inference(std::string_view name, Goals goals) {
  Job job = inference<Net>(name, goals);
  job.make = [](Host& device) -> std::unique_ptr<Work> {
    return std::make_unique<FoldedInference<Net>>(device, 1);
  };
  return job;
}

template <index_t N>
Job product(std::string_view name) {
  return {name, {0.97}, cost_of_product(N), [](Host& device) -> std::unique_ptr<Work> {
            return std::make_unique<Product>(device, N);
          }};
}

// A function of two tensors of N... elements; arrays: the ones of this size that it reads and
// writes.
template <auto compute, index_t... N>
Job tensors(std::string_view name, double goal, double arrays) {
  constexpr double elements = (static_cast<double>(N) * ...);
  return {
      name, {goal}, {elements, 4 * elements * arrays}, [](Host& device) -> std::unique_ptr<Work> {
        return std::make_unique<TensorFunction<compute>>(device, gpunet::Sizes{N...});
      }};
}

Job of_set(JobSet set, Job job) {
  job.set = set;
  return job;
}

// Returns the job, left out of --quick: it takes long, or resembles another one.
Job not_in_quick(Job job) {
  return of_set(JobSet::usual, job);
}

// Returns a job with a network of real size.
Job real(Job job) {
  return of_set(JobSet::real, job);
}

// Return a form of convolution: both passes of two of them, and the forward pass alone.
template <class Net>
Job convolution(std::string_view name) {
  return of_set(JobSet::convolutions, training<Net, Momentum, 16, nn::MSELoss>(name, 1));
}
template <class Net>
Job convolution_forward(std::string_view name) {
  return of_set(JobSet::convolutions, inference<Net, 16>(name, {1}));
}

}  // namespace

const std::vector<Job>& jobs() {
  static const std::vector<Job> list{
      training<IrisNet, Adam<10>, 120>("iris", 150),
      training<LeNet, Momentum, 4>("lenet_b4", 8),
      training<LeNet, Momentum, 256>("lenet_b256", 4),
      training<CnnNet, Adam<1>, 256>("cnn_b256", 3),
      training<MlpNet, Momentum, 64>("mlp_b64", 1.5),
      training<MlpNet, Momentum, 512>("mlp_b512", 1.15),
      training<VggNet, Momentum, 32>("vgg_b32", 2),
      training<RegressionNet, Adam<1>, 64, nn::MSELoss>("regression_b64", 1.5),
      not_in_quick(training<ResNet20, Momentum, 128>("resnet20_b128", 1.5)),
      not_in_quick(training<MobileNetBlock, Momentum, 32, nn::MSELoss>("mobilenet_b32", 1.5)),
      not_in_quick(training<CharLSTM, Adam<1>, 32>("lstm_b32", 2)),
      not_in_quick(training<CharTransformer, Adam<1>, 32>("transformer_b32", 1.2)),
      inference<LeNet>("lenet_infer_b1", {.pytorch = 10, .onnx = 2.5}),
      inference<MlpNet>("mlp_infer_b1", {.pytorch = 10, .onnx = 1.3}),
      not_in_quick(inference<RegressionNet>("regression_infer_b1", {3})),
      folded_inference<ResNet20>("resnet20_infer_b1", {.pytorch = 3, .onnx = 1.2}),
      not_in_quick(folded_inference<MobileNetBlock>("mobilenet_infer_b1", {3})),
      not_in_quick(inference<CharLSTM>("lstm_infer_b1", {3})),
      not_in_quick(inference<CharTransformer>("transformer_infer_b1", {3})),
      product<256>("gemm_256"),
      product<1024>("gemm_1024"),
      product<2048>("gemm_2048"),
      tensors<chain, 1000000>("tensor_chain", 3, 3),
      tensors<chain, 32>("tensor_small", 10, 3),
      tensors<row_sums, 1024, 1024>("tensor_row_sums", 1.2, 1),
      not_in_quick(tensors<column_sums, 1024, 1024>("tensor_column_sums", 1.2, 1)),
      not_in_quick(tensors<product_of_tensors, 256, 256>("tensor_matmul", 1, 3)),
      tensors<sorted_elements, 1000000>("tensor_sort", 1, 4),
      real(training<ResNet18, Momentum, 8>("resnet18_b8", 1.4)),
      real(training<ResNet18, Momentum, 16>("resnet18_b16", 1.2)),
      real(folded_inference<ResNet18>("resnet18_infer_b1", {1.2})),
      real(training<MobileNetV2, Momentum, 8>("mobilenet_v2_b8", 1.5)),
      real(folded_inference<MobileNetV2>("mobilenet_v2_infer_b1", {1.5})),
      real(training<UNet, Momentum, 2, nn::MSELoss>("unet_b2", 1.3)),
      real(folded_inference<UNet>("unet_infer_b1", {1.3})),
      convolution<SquareConv>("conv_square"),
      convolution_forward<SquareConv>("conv_square_forward"),
      convolution<WideKernelConv>("conv_kernel_3x5"),
      convolution_forward<WideKernelConv>("conv_kernel_3x5_forward"),
      convolution<RowPaddingConv>("conv_padding_1x0"),
      convolution_forward<RowPaddingConv>("conv_padding_1x0_forward"),
      convolution<StridedConv>("conv_stride_2"),
      convolution_forward<StridedConv>("conv_stride_2_forward"),
      convolution<GroupedConv>("conv_groups_2"),
      convolution_forward<GroupedConv>("conv_groups_2_forward"),
      convolution<DepthwiseConv>("conv_depthwise"),
      convolution_forward<DepthwiseConv>("conv_depthwise_forward"),
      convolution<PointwiseConv>("conv_1x1"),
      convolution_forward<PointwiseConv>("conv_1x1_forward"),
      convolution<DilatedConv>("conv_dilated"),
      convolution_forward<DilatedConv>("conv_dilated_forward"),
      convolution<RowConv>("conv_1d"),
      convolution_forward<RowConv>("conv_1d_forward"),
      convolution<DilatedRowConv>("conv_1d_dilated"),
      convolution_forward<DilatedRowConv>("conv_1d_dilated_forward"),
      convolution<TransposedConv2>("conv_transposed_2x2"),
      convolution_forward<TransposedConv2>("conv_transposed_2x2_forward"),
      convolution<TransposedConv4>("conv_transposed_4x4"),
      convolution_forward<TransposedConv4>("conv_transposed_4x4_forward"),
      convolution<VolumeConv>("conv_3d"),
      convolution_forward<VolumeConv>("conv_3d_forward"),
  };
  return list;
}

const Job& find_job(std::string_view name) {
  for (const Job& job : jobs())
    if (job.name == name) return job;
  throw gpunet::Error(gpunet::concat("bench: there is no job '", name, "'"));
}

}  // namespace bench
