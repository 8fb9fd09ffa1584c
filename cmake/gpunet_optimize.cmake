# gpunet_optimize(TARGET): where the main project has no build type and no level of optimization of its own, what links the library
# TARGET is compiled with -O2. CMake would compile without, and programs would be 6 times slower.
function(gpunet_optimize target)
  if(CMAKE_BUILD_TYPE OR CMAKE_CONFIGURATION_TYPES OR CMAKE_CXX_FLAGS MATCHES "(^| )-O")
    return()
  endif()
  message(STATUS "gpunet: no build type, so the library and what links it are compiled with -O2, set CMAKE_BUILD_TYPE to "
    "Release for optimized code or to Debug for code without optimization (6 times slower)")
  # CONFIG: a build type may still be set below in the main project.
  target_compile_options(${target} INTERFACE "$<BUILD_INTERFACE:$<$<STREQUAL:$<CONFIG>,>:-O2>>")
endfunction()
