#pragma once

#include <hdf5.h>

#include <mutex>
#include <utility>

namespace bntt {

/// A libhdf5 object that must be closed. Negative: none.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }

  bool valid() const { return id_ >= 0; }
  operator hid_t() const { return id_; }  // NOLINT: used like libhdf5's own

 private:
  hid_t id_;
  Close close_;
};

/// Debian's libhdf5 is not thread-safe. While this lock is held, libhdf5 prints no errors and loads
/// no plugins: errors concern the file and are reported as sentences.
class Hdf5Lock {
 public:
  Hdf5Lock() : lock_(mutex()) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5PLset_loading_state(0);
  }

 private:
  static std::mutex& mutex() {
    static std::mutex only;
    return only;
  }
  std::lock_guard<std::mutex> lock_;
};

}  // namespace bntt
