# How the project's own programs (tests, examples) are compiled. Not installed.

set(CMAKE_CXX_EXTENSIONS OFF)  # -std=c++20, as in a plain call of the compiler

# The warnings that the project is free of. nvcc gets all but -Wpedantic, which its generated code breaks.
add_library(gpunet_warnings INTERFACE)
target_compile_options(gpunet_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wconversion,-Wshadow>)
if(GPUNET_WERROR)
  target_compile_options(gpunet_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()

# A program of the project from `sources`. With CUDA as the word after the name, nvcc compiles them.
function(gpunet_add_program name)
  cmake_parse_arguments(program "CUDA" "" "" ${ARGN})
  add_executable(${name} ${program_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE gpunet::gpunet gpunet_warnings)
  if(program_CUDA)
    gpunet_cuda_sources(${name})
  endif()
endfunction()
