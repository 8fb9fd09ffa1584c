# Where cuDNN is there, the test program has it: by the one unit that tests it, the others are compiled as ever. Tests of
# convolutions run once more, by cuDNN whatever their size. With a simulator, a stub takes cuDNN's place.

gpunet_link_cudnn(gpunet_tests_cuda ${tests_dir}/ops/conv2d/cudnn_test.cpp)

# Adds cudnn/NAME: those cases of the test file NAME that fit the patterns, but for what further arguments exclude.
function(gpunet_add_cudnn_entry name cases)
  gpunet_add_test_entry(gpunet_tests_cuda cudnn ${tests_dir}/${name}_test.cpp "--test-case=${cases}" ${ARGN})
endfunction()
# Tensor cores of cuDNN round otherwise, and it takes more launches.
gpunet_add_cudnn_entry(ops/conv2d/cuda *Cuda* "--test-case-exclude=*tensor cores*")
gpunet_add_cudnn_entry(ops/conv2d/cuda_block *Cuda* "--test-case-exclude=*is one launch*")
gpunet_add_cudnn_entry(model/network_gradients *Cuda*)
gpunet_add_cudnn_entry(model/cuda_calls "*waits for nothing and allocates nothing*")

if(GPUNET_CUDA_SIMULATOR)
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/cudnn_stub/cudnn.map)
  add_library(gpunet_cudnn_stub SHARED cudnn_stub/cudnn.cpp)
  target_compile_features(gpunet_cudnn_stub PRIVATE cxx_std_20)
  target_link_libraries(gpunet_cudnn_stub PRIVATE gpunet_warnings)
  gpunet_compile_as_cuda(gpunet_cudnn_stub)
  target_include_directories(gpunet_cudnn_stub SYSTEM PRIVATE ${GPUNET_CUDNN_INCLUDE_DIR})
  target_link_options(gpunet_cudnn_stub PRIVATE LINKER:--version-script=${map})
  set_target_properties(gpunet_cudnn_stub PROPERTIES OUTPUT_NAME cudnn SOVERSION 9 LINK_DEPENDS ${map}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cudnn_stub)
  add_dependencies(gpunet_tests_cuda gpunet_cudnn_stub)
endif()
