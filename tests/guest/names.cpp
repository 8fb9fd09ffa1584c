// Headers of Windows, X11, Qt and others define macros with names of everyday words. The whole
// library compiles after them. (The headers of the standard library and of the system come before:
// they could not.)
#include <algorithm>
#include <any>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <complex>
#include <concepts>
#include <condition_variable>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numbers>
#include <numeric>
#include <optional>
#include <ostream>
#include <queue>
#include <random>
#include <ranges>
#include <set>
#include <shared_mutex>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

// windows.h and what it includes.
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define small char
#define near
#define far
#define NEAR
#define FAR
#define interface struct
#define ERROR 0
#define NO_ERROR 0
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define TRUE 1
#define FALSE 0
#define DELETE 0x00010000L
#define STRICT 1
#define CALLBACK
#define PASCAL
#define pascal
#define cdecl
#define hyper long
#define rad1 0x0432
#define DIFFERENCE 11
#define ABSOLUTE 1
#define RELATIVE 2
#define OVERFLOW 3
#define UNDERFLOW 4
#define DOMAIN 1
#define TRANSPARENT 1
#define OPAQUE 2
#define GetMessage GetMessageW
#define LoadImage LoadImageW
#define CreateFile CreateFileW
#define DeleteFile DeleteFileW
#define GetObject GetObjectW

// X11.
#define None 0L
#define Bool int
#define Status int
#define Success 0
#define True 1
#define False 0
#define Always 2
#define Above 0
#define Below 1
#define Unsorted 0
#define Complex 0
#define Convex 2
#define Expose 12
#define KeyPress 2
#define FocusIn 9
#define FocusOut 10
#define CursorShape 0
#define GrayScale 1
#define AllocNone 0
#define InputOutput 1

// Qt.
#define slots
#define signals public
#define emit
#define foreach(variable, container) for (variable : container)
#define forever for (;;)

// Assertions of others, and macros of debuggers and of glib.
#define ASSERT(condition) static_cast<void>(0)
#define CHECK(condition) static_cast<void>(0)
#define REQUIRE(condition) static_cast<void>(0)
#define ABS(x) ((x) < 0 ? -(x) : (x))
#define CLAMP(x, low, high) (x)
#define MIN(a, b) (a)
#define MAX(a, b) (a)
#define DEBUG 1
#define INFO 1
#define LOG(x) (x)
#define PI 3

#include <gpunet/datasets.hpp>
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/images.hpp>
#include <gpunet/nn/gradient_check.hpp>
#include <gpunet/plot.hpp>
#include <gpunet/src.hpp>
#include <gpunet/tables.hpp>
#include <gpunet/tensor/dlpack.hpp>
#include <gpunet/tensor/files.hpp>
#include <gpunet/tensorboard.hpp>
#include <gpunet/tensors.hpp>
