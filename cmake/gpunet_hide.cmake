# gpunet_hide(plugin): the shared library or module `plugin`, which links gpunet, exports nothing of gpunet. Several such
# libraries in one program then have a gpunet each, of any version and compiled in any way, and a closed one is unloaded.
# Its own functions need [[gnu::visibility("default")]] to be exported. Installed with the library.
cmake_policy(VERSION 3.22)

function(gpunet_hide target)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # Without unique symbols, one of which g++ makes for each static variable of an inline function of the standard library too:
  # the dynamic linker never unloads a library that has one.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  if(NOT APPLE)
    target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)  # gpunet::compiled
  endif()
endfunction()
