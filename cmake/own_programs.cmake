# How the project's own programs (tests, examples) are compiled. Not installed.

set(CMAKE_CXX_EXTENSIONS OFF)  # -std=c++20, as in a plain call of the compiler

# The project compiles without these warnings. For nvcc not -Wpedantic and -Wsign-conversion, which its generated code causes.
set(gpunet_warning_flags -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow)
add_library(gpunet_warnings INTERFACE)
target_compile_options(gpunet_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${gpunet_warning_flags}>"
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wconversion,-Wshadow>)
if(GPUNET_WERROR)
  target_compile_options(gpunet_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()

# Without optimization, kernels take minutes under sanitizers, and where lines are counted (scripts/coverage.sh); the library is
# compiled once for all programs. -O1 leaves calls in loops, of functions for the base processor, which has no FMA; without
# contraction a function has the same bits in every loop.
if(CMAKE_CXX_FLAGS_DEBUG MATCHES "-fsanitize=address|-fsanitize=integer|-fcoverage-mapping")
  target_compile_options(gpunet_compiled PRIVATE "$<$<CONFIG:Debug>:-O1;-ffp-contract=off>")
endif()
if(CMAKE_CXX_FLAGS_DEBUG MATCHES "-fsanitize=address,undefined")
  # Bad pointers are found by the address sanitizer too. With these checks, the kernels take three times
  # as long to compile.
  set(gpunet_fewer_checks -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow)
  set_source_files_properties(${PROJECT_BINARY_DIR}/compiled/ops.cpp PROPERTIES
    COMPILE_OPTIONS "$<$<CONFIG:Debug>:${gpunet_fewer_checks}>")
endif()

# Adds a program of the project from `sources`, linked with gpunet::compiled; with CUDA after the name, with gpunet::cuda; with
# HEADER_ONLY, with neither.
function(gpunet_add_program name)
  cmake_parse_arguments(program "CUDA;HEADER_ONLY" "" "" ${ARGN})
  if(program_CUDA)
    set(library gpunet::cuda)
  elseif(program_HEADER_ONLY)
    set(library gpunet::gpunet)
  else()
    set(library gpunet::compiled)
  endif()
  add_executable(${name} ${program_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${library} gpunet_warnings)
endfunction()

# Links a program with cuDNN. Only its source `unit` is compiled with it: reading cuDNN's headers takes nvcc seconds. Call this
# in the directory that adds the program, if the target gpunet::cudnn exists.
function(gpunet_link_cudnn program unit)
  set_property(SOURCE ${unit} APPEND PROPERTY COMPILE_DEFINITIONS GPUNET_CUDNN=1)
  set_source_files_properties(${unit} PROPERTIES INCLUDE_DIRECTORIES "${GPUNET_CUDNN_INCLUDE_DIR}")
  target_link_libraries(${program} PRIVATE ${GPUNET_CUDNN_LIBRARY})
endfunction()
