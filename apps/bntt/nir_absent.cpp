#include "base/fail.h"
#include "nir.h"

// Stands in for nir.cpp where the program is built without libhdf5.
namespace bntt::cli {

int export_nir(const std::string& /*run*/, const std::string& file,
               const NirExportArguments& /*arguments*/) {
  fail("{}: this bntt was built without NIR", file);
}

int import_nir(const std::string& file, const std::string& /*out*/,
               const NirImportArguments& /*arguments*/) {
  fail("{}: is an HDF5 file, and this bntt was built without NIR", file);
}

}  // namespace bntt::cli
