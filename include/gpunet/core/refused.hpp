// Compile errors of one sentence for wrong arguments: refused calls compile up to a static_assert.
#pragma once

#include <concepts>
#include <initializer_list>
#include <type_traits>

#include <gpunet/core/config.hpp>

namespace gpunet::detail {

// False, for a static_assert that fails where a template is used.
template <class...>
inline constexpr bool never = false;

// Stands for the arguments of a class template when no constructor takes the given ones: the guide
// Name(...) -> Name<WrongArguments>, the last choice of the compiler, leads to a specialization
// with the sentence.
struct WrongArguments;
template <class T>
concept Wrong = std::same_as<T, WrongArguments>;
// The base of that specialization: its constructors cause no further errors.
struct AnyArguments {
  template <class... Given>
  AnyArguments(Given&&...) {}
  AnyArguments(...) {}  // also braces
};

}  // namespace gpunet::detail

// A method that PyTorch has. It takes any arguments, also {0, 1}.
#define GPUNET_REFUSED_METHOD(name, message)                                     \
  template <class First = std::initializer_list<gpunet::index_t>, class... More> \
  auto name(const First& = {}, const More&...) const {                           \
    static_assert(gpunet::detail::never<First>, message);                        \
  }

// A call of a layer, as layer(x) in PyTorch, does not compile.
#define GPUNET_REFUSED_CALL                                                                       \
  template <class First, class... More>                                                           \
  First operator()(const First& x, const More&...) const {                                        \
    static_assert(gpunet::detail::never<First>,                                                   \
                  "gpunet::nn: a layer is not called (it has no parameters before a network is "  \
                  "made), write "                                                                 \
                  "nn::apply<1>(nn::Linear<8>{}, x), 1 the dimensions of a sample, or linear(x, " \
                  "8) for values, "                                                               \
                  "and Model net(host, nn::Sequential(...)) for tensors");                        \
    return x;                                                                                     \
  }

// A copy that is not made implicitly. Compilers show this line, or the reason alone where they can.
#if defined(__cpp_deleted_function)
#define GPUNET_DELETED(reason) = delete (reason)
#else
#define GPUNET_DELETED(reason) = delete
#endif
