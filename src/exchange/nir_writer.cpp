#include "base/check.h"
#include "base/fail.h"
#include "base/files.h"
#include "exchange/hdf5.h"
#include "exchange/nir_file.h"

namespace bntt {
namespace {

/// Nothing here depends on untrusted input: a failure means that memory ran out.
void expect(bool worked) {
  if (!worked) fail("NIR: libhdf5 could not create the file, perhaps for lack of memory");
}

Hdf5Handle make_group(hid_t parent, const std::string& name) {
  Hdf5Handle group(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   H5Gclose);
  expect(group.valid());
  return group;
}

Hdf5Handle plain_creation() {
  Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  expect(H5Pset_obj_track_times(creation, false) >= 0);  // equal graphs, equal bytes
  return creation;
}

Hdf5Handle text_type() {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  expect(H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0);
  return type;
}

void write_texts(hid_t parent, const char* name, hid_t space, const char* const* texts) {
  const Hdf5Handle type = text_type();
  const Hdf5Handle creation = plain_creation();
  const Hdf5Handle data(H5Dcreate2(parent, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                        H5Dclose);
  expect(data.valid() && H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0);
}

void write_text(hid_t parent, const std::string& name, const std::string& text) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const char* pointer = text.c_str();
  write_texts(parent, name.c_str(), space, &pointer);
}

void write_array(hid_t parent, const std::string& name, const NirArray& array) {
  const std::vector<hsize_t> extents(array.shape.begin(), array.shape.end());
  const Hdf5Handle space(
      extents.empty() ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
      H5Sclose);
  const Hdf5Handle creation = plain_creation();
  const bool integers = !array.integers.empty();
  const bool one_for_all = array.values.size() == 1 && array.size() > 1;
  if (one_for_all) {
    // Never written and never allocated: libhdf5 returns the fill value.
    expect(H5Pset_fill_value(creation, H5T_NATIVE_FLOAT, array.values.data()) >= 0 &&
           H5Pset_alloc_time(creation, H5D_ALLOC_TIME_LATE) >= 0);
  }
  const Hdf5Handle data(H5Dcreate2(parent, name.c_str(), integers ? H5T_STD_I64LE : H5T_IEEE_F32LE,
                                   space, H5P_DEFAULT, creation, H5P_DEFAULT),
                        H5Dclose);
  expect(data.valid());
  if (one_for_all) return;
  const void* numbers = array.values.data();
  if (integers) numbers = array.integers.data();
  expect(H5Dwrite(data, integers ? H5T_NATIVE_INT64 : H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL,
                  H5P_DEFAULT, numbers) >= 0);
}

template <typename Named>
void write_members(hid_t group, const Named& named) {
  for (const auto& [name, text] : named.texts) write_text(group, name, text);
  for (const auto& [name, array] : named.arrays) write_array(group, name, array);
}

void write_metadata(hid_t owner, const NirMetadata& metadata) {
  if (metadata == NirMetadata{}) return;
  write_members(make_group(owner, "metadata"), metadata);
}

void write_edges(hid_t root, const NirGraph& graph) {
  BNTT_CHECK(!graph.edges.empty());
  std::vector<const char*> names;
  for (const auto& [from, to] : graph.edges) {
    names.push_back(from.c_str());
    names.push_back(to.c_str());
  }
  const hsize_t extents[2] = {graph.edges.size(), 2};
  const Hdf5Handle space(H5Screate_simple(2, extents, nullptr), H5Sclose);
  write_texts(root, "edges", space, names.data());
}

}  // namespace

std::vector<uint8_t> format_nir(const NirGraph& graph) {
  const Hdf5Lock lock;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  expect(H5Pset_fapl_core(access, 1 << 20, 0) >= 0);
  const Hdf5Handle file(H5Fcreate("nir", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  expect(file.valid());
  write_text(file, "version", graph.version);
  {
    const Hdf5Handle root = make_group(file, "node");
    write_text(root, "type", "NIRGraph");
    write_edges(root, graph);
    const Hdf5Handle nodes = make_group(root, "nodes");
    for (const NirNode& node : graph.nodes) {
      const Hdf5Handle own = make_group(nodes, node.name);
      write_text(own, "type", node.type);
      write_members(own, node);
      write_metadata(own, node.metadata);
    }
    write_metadata(root, graph.metadata);
  }
  expect(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  expect(size > 0);
  std::vector<uint8_t> bytes(static_cast<std::size_t>(size));
  expect(H5Fget_file_image(file, bytes.data(), bytes.size()) == size);
  return bytes;
}

void write_nir(const std::filesystem::path& path, const NirGraph& graph) {
  write_file_atomically(path, {format_nir(graph)});
}

}  // namespace bntt
