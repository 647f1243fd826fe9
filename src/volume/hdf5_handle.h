#pragma once

#include <hdf5.h>

#include <string>
#include <utility>
#include <vector>

namespace tacho {

// An identifier of HDF5's and how it is given back; negative where HDF5 refused to make one.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close how) : id_(id), close_(how) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Handle() { close(); }

  hid_t id() const { return id_; }
  bool is_open() const { return id_ >= 0; }
  // False where HDF5 could not; what is still to be written is written here.
  bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

// While it lives HDF5 prints no errors from this thread.
class QuietHdf5 {
 public:
  QuietHdf5();
  ~QuietHdf5();
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

// What HDF5 says about the call that failed last on this thread, in one line.
std::string hdf5_reason();

// Of a data space; empty where it has none.
std::vector<hsize_t> extents_of(const Hdf5Handle& space);

}  // namespace tacho
