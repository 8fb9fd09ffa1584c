// Pointers that follow an object when it is moved.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <gpunet/core/error.hpp>

namespace gpunet {

template <class T>
class TrackedPointer;

// The base of a class T whose objects may be moved while TrackedPointers point to them. Messages
// call the class T::type_name.
template <class T>
class Trackable {
 public:
  Trackable() : place_(std::make_shared<Trackable*>(this)) {}
  Trackable(Trackable&& other) noexcept : place_(std::move(other.place_)) {
    if (place_) *place_ = this;
  }
  ~Trackable() {
    if (place_) *place_ = nullptr;
  }

 protected:
  // Returns this object. Throws Error if it was moved from.
  const T& here() const {
    if (!place_) refuse();
    return static_cast<const T&>(*this);
  }

 private:
  friend class TrackedPointer<T>;
  friend class TrackedPointer<const T>;

  [[noreturn, gnu::cold, gnu::noinline]] static void refuse() {
    throw_error(Error(concat(
        "gpunet::", T::type_name,
        ": this object was moved from (its contents are gone), use the one that it was moved to")));
  }

  // Shared with all pointers; null if this object was moved from.
  std::shared_ptr<Trackable*> place_;
};

// A pointer to a Trackable that follows it when it is moved. Using it throws Error if the object no
// longer exists or the pointer itself was moved from.
template <class T>
class TrackedPointer {
 public:
  explicit TrackedPointer(T& target) : place_(target.here().place_) {}

  // Returns the object. Throws Error if it no longer exists.
  T& operator*() const {
    if (!place_ || !*place_) refuse();
    return static_cast<T&>(**place_);
  }
  T* operator->() const { return &**this; }
  // Returns whether it still exists.
  bool exists() const { return place_ && *place_; }

 private:
  using Base = Trackable<std::remove_const_t<T>>;

  [[noreturn, gnu::cold, gnu::noinline]] static void refuse() {
    throw_error(Error(
        concat("gpunet::", T::type_name,
               ": the object is gone (destroyed, or another one was assigned to it), but something "
               "made for it is still used, keep the object as long, or make that anew")));
  }

  std::shared_ptr<Base*> place_;
};

}  // namespace gpunet
