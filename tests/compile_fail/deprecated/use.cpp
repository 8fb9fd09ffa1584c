// expect: gpunet: old name (a later version removes it), use g
// A deprecated function is called, with warnings as errors.
#include <gpunet/core/config.hpp>

void g();
GPUNET_DEPRECATED("use g") void f();

int main() {
#ifdef USES_REPLACEMENT
  g();
#else
  f();
#endif
}
