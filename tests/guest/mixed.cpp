// A unit without exceptions beside one with them.
#include <gpunet/core/error.hpp>

int main() {
  return 0;
}
