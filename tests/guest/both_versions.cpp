// both_versions LIBRARY LIBRARY: opens two libraries with gpunet inside, so that the symbols of the
// first come before those of the second, and has each print a message.
#include <cstdio>
#include <dlfcn.h>

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    void* const library = ::dlopen(arguments[i], RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
      std::fprintf(stderr, "%s\n", ::dlerror());
      return 1;
    }
    // By the handle: both libraries have one.
    reinterpret_cast<void (*)()>(::dlsym(library, "guest_print_error"))();
  }
  return 0;
}
