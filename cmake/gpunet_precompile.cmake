# gpunet_precompile(app): the C++ sources of `app`, which links gpunet, read <gpunet/gpunet.hpp> precompiled. Those that do
# not include it read it all the same; sources that nvcc compiles are left as they are. Installed with the library.
cmake_policy(VERSION 3.22)

function(gpunet_precompile target)
  target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<gpunet/gpunet.hpp$<ANGLE-R>>")
endfunction()
