// The update of one parameter by an optimizer.
#pragma once

#include <cstddef>

#include <gpunet/core/config.hpp>

namespace gpunet::optim {

// The base of updates: functors over the parameters, with the arrays that they work on,
// [parameters] each. The last `optional` of the arrays stored from step to step may be null. `Self`
// has
//   template <bool... There> void run(index_t i) const;
// which updates parameter i. There: which optional arrays are not null.
template <class Self, class T, int required, int optional>
struct Update {
  static constexpr int kept_arrays = required + optional;
  const T* gradient;
  T* parameter;
  T* kept[static_cast<std::size_t>(kept_arrays)];

  GPUNET_FN void operator()(index_t i) const { run_with<>(i); }

  // Returns the same update of the parameters from `first` on.
  GPUNET_FN Self from(index_t first) const {
    Self moved = static_cast<const Self&>(*this);
    moved.gradient += first;
    moved.parameter += first;
    for (T*& array : moved.kept)
      if (array) array += first;
    return moved;
  }

  // All arrays, by number.
  static constexpr int arrays = kept_arrays + 2;
  GPUNET_FN const T* array(int i) const {
    return i == 0 ? gradient : i == 1 ? parameter : kept[i - 2];
  }
  // Replaces the arrays.
  GPUNET_FN void use(T* const* others) {
    gradient = others[0];
    parameter = others[1];
    for (int i = 0; i < kept_arrays; ++i)
      kept[i] = others[i + 2];
  }

  // Calls loop(f) for a functor f that updates the same without branches on the optional arrays,
  // see for_each on Host.
  template <class Loop, bool... There>
  void without_branches(const Loop& loop) const {
    constexpr int known = sizeof...(There);
    if constexpr (known == optional)
      loop(Known<There...>{static_cast<const Self&>(*this)});
    else if (kept[required + known])
      without_branches<Loop, There..., true>(loop);
    else
      without_branches<Loop, There..., false>(loop);
  }

 private:
  template <bool... There>
  struct Known {
    Self update;
    GPUNET_FN void operator()(index_t i) const { update.template run<There...>(i); }
  };

  template <bool... There>
  GPUNET_FN void run_with(index_t i) const {
    constexpr int known = sizeof...(There);
    if constexpr (known == optional)
      static_cast<const Self&>(*this).template run<There...>(i);
    else if (kept[required + known])
      run_with<There..., true>(i);
    else
      run_with<There..., false>(i);
  }
};

}  // namespace gpunet::optim
