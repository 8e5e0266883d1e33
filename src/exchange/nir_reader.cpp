#include "exchange/nir_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/fail.h"
#include "base/text.h"
#include "exchange/hdf5.h"

namespace bntt {
namespace {

constexpr std::size_t kMostNodes = 10000;
constexpr int64_t kMostEdges = 100000;
constexpr int kMostAxes = 8;
constexpr std::size_t kLongestText = 1 << 20;
/// Deflate expands one byte to at most 1032.
constexpr uint64_t kMostInflation = 1032;

/// Names of a group's members stored in this file: a NIR file has no links to other files.
struct Listing {
  std::vector<std::string> names;
  bool foreign_link = false;
};

extern "C" herr_t list_member(hid_t /*group*/, const char* name, const H5L_info_t* info,
                              void* data) {
  auto& listing = *static_cast<Listing*>(data);
  if (info->type != H5L_TYPE_HARD) {
    listing.foreign_link = true;
    return 1;
  }
  if (listing.names.size() > kMostNodes) return 1;
  try {
    listing.names.emplace_back(name);
  } catch (const std::bad_alloc&) {
    return -1;
  }
  return 0;
}

class Reader {
 public:
  Reader(std::span<const uint8_t> bytes, const std::string& origin)
      : origin_(origin), bytes_(bytes.size()), file_(open(bytes)) {
    if (!file_.valid()) fail("{}: is not a whole HDF5 file", origin_);
  }

  NirGraph read() {
    NirGraph graph;
    if (has(file_, "version")) graph.version = text(file_, "version", "the file");
    if (!has(file_, "node")) fail("{}: is not a NIR file: it has no group 'node'", origin_);
    const Hdf5Handle root = group(file_, "node", "the file");
    const std::string type = text(root, "type", "the root");
    if (type != "NIRGraph") {
      fail("{}: its root is a '{}', expected a NIRGraph", origin_, excerpt(type));
    }
    const Hdf5Handle nodes = group(root, "nodes", "the root");
    for (const std::string& name : members(nodes, "nodes")) {
      graph.nodes.push_back(node(nodes, name));
    }
    graph.edges = edges(root);
    graph.metadata = metadata(root, "the root");
    return graph;
  }

 private:
  static Hdf5Handle open(std::span<const uint8_t> bytes) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_core(access, 1 << 16, 0);
    // libhdf5 copies the bytes; its interface lacks const.
    H5Pset_file_image(access, const_cast<uint8_t*>(bytes.data()), bytes.size());
    return {H5Fopen("nir", H5F_ACC_RDONLY, access), H5Fclose};
  }

  [[noreturn]] void damaged(const std::string& name, const std::string& where) const {
    fail("{}: '{}' of {} cannot be read: the file is damaged", origin_, excerpt(name),
         excerpt(where));
  }

  static bool has(hid_t parent, const char* name) {
    return H5Lexists(parent, name, H5P_DEFAULT) > 0;
  }

  Hdf5Handle group(hid_t parent, const std::string& name, const std::string& where) const {
    Hdf5Handle result(H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose);
    if (!result.valid()) damaged(name, where);
    return result;
  }

  std::vector<std::string> members(hid_t parent, const std::string& where) const {
    Listing listing;
    const herr_t end =
        H5Literate(parent, H5_INDEX_NAME, H5_ITER_INC, nullptr, list_member, &listing);
    if (listing.foreign_link) {
      fail("{}: {} holds a link, expected only groups and arrays", origin_, excerpt(where));
    }
    if (listing.names.size() > kMostNodes) {
      fail("{}: {} has more than {} members", origin_, excerpt(where), kMostNodes);
    }
    if (end < 0) damaged("members", where);
    return listing.names;
  }

  static bool is_group(hid_t parent, const std::string& name) {
    H5O_info_t info;
    return H5Oget_info_by_name(parent, name.c_str(), &info, H5P_DEFAULT) >= 0 &&
           info.type == H5O_TYPE_GROUP;
  }

  /// A dataset with what is known about it before it is read.
  struct Dataset {
    Hdf5Handle id;
    Hdf5Handle type;
    Hdf5Handle creation;
    std::vector<int64_t> shape;
    int64_t count = 1;

    bool is_text() const { return H5Tget_class(type) == H5T_STRING; }
  };

  Dataset dataset(hid_t parent, const std::string& name, const std::string& where) const {
    Hdf5Handle id(H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!id.valid()) damaged(name, where);
    Hdf5Handle type(H5Dget_type(id), H5Tclose);
    Hdf5Handle creation(H5Dget_create_plist(id), H5Pclose);
    const Hdf5Handle space(H5Dget_space(id), H5Sclose);
    if (!type.valid() || !creation.valid() || !space.valid()) damaged(name, where);
    expect_own_storage(creation, name, where);
    std::array<hsize_t, kMostAxes> extents{};
    const int axes = H5Sget_simple_extent_ndims(space);
    const bool holds_values = H5Sget_simple_extent_type(space) != H5S_NULL;
    if (axes < 0 || axes > kMostAxes || !holds_values ||
        H5Sget_simple_extent_dims(space, extents.data(), nullptr) < 0) {
      damaged(name, where);
    }
    std::vector<int64_t> shape;
    int64_t count = 1;
    for (int axis = 0; axis < axes; ++axis) {
      const hsize_t extent = extents[axis];
      if (extent < 1 || extent > static_cast<hsize_t>(kMostNumbers / count)) {
        fail("{}: '{}' of {} is empty or has more than {} numbers", origin_, excerpt(name),
             excerpt(where), kMostNumbers);
      }
      shape.push_back(static_cast<int64_t>(extent));
      count *= static_cast<int64_t>(extent);
    }
    return {std::move(id), std::move(type), std::move(creation), std::move(shape), count};
  }

  /// Rejects numbers stored in other files, and filters that libhdf5 would have to load.
  void expect_own_storage(hid_t creation, const std::string& name, const std::string& where) const {
    const bool elsewhere =
        H5Pget_external_count(creation) != 0 || H5Pget_layout(creation) == H5D_VIRTUAL;
    bool known = true;
    const int filters = H5Pget_nfilters(creation);
    for (int i = 0; i < filters; ++i) {
      unsigned flags = 0;
      std::size_t values = 0;
      const H5Z_filter_t filter =
          H5Pget_filter2(creation, i, &flags, &values, nullptr, 0, nullptr, nullptr);
      known = known && (filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE ||
                        filter == H5Z_FILTER_FLETCHER32);
    }
    if (elsewhere || !known || filters < 0) {
      fail("{}: '{}' of {} is stored in a way that NIR files do not use", origin_, excerpt(name),
           excerpt(where));
    }
  }

  std::vector<std::string> texts_of(const Dataset& data, const std::string& name,
                                    const std::string& where) const {
    const Hdf5Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_cset(memory, H5Tget_cset(data.type));
    std::vector<std::string> result;
    const auto add = [&](const char* text) {
      const std::size_t length = text == nullptr ? 0 : strnlen(text, kLongestText);
      result.emplace_back(text == nullptr ? "" : text, length);
    };
    if (H5Tis_variable_str(data.type) > 0) {
      H5Tset_size(memory, H5T_VARIABLE);
      std::vector<char*> texts(static_cast<std::size_t>(data.count), nullptr);
      if (H5Dread(data.id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()) < 0) {
        damaged(name, where);
      }
      for (const char* text : texts) add(text);
      const Hdf5Handle space(H5Dget_space(data.id), H5Sclose);
      H5Dvlen_reclaim(memory, space, H5P_DEFAULT, texts.data());
      return result;
    }
    const std::size_t length = H5Tget_size(data.type);
    if (length == 0 || length > kLongestText ||
        static_cast<uint64_t>(data.count) * length > kMostInflation * bytes_) {
      damaged(name, where);
    }
    H5Tset_size(memory, length + 1);  // room for the final terminator
    std::vector<char> texts(static_cast<std::size_t>(data.count) * (length + 1), '\0');
    if (H5Dread(data.id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()) < 0) {
      damaged(name, where);
    }
    for (int64_t i = 0; i < data.count; ++i) add(texts.data() + i * (length + 1));
    return result;
  }

  std::string text(hid_t parent, const std::string& name, const std::string& where) const {
    const Dataset data = dataset(parent, name, where);
    if (!data.is_text() || data.count != 1) {
      fail("{}: '{}' of {} is not text", origin_, excerpt(name), excerpt(where));
    }
    return texts_of(data, name, where).front();
  }

  NirArray array_of(const Dataset& data, const std::string& name, const std::string& where) {
    const H5T_class_t kind = H5Tget_class(data.type);
    if (kind != H5T_INTEGER && kind != H5T_FLOAT) {
      fail("{}: '{}' of {} holds neither numbers nor text", origin_, excerpt(name), excerpt(where));
    }
    NirArray array{.shape = data.shape, .values = {}, .integers = {}};
    const hsize_t stored = H5Dget_storage_size(data.id);
    if (stored == 0) {
      // Never written: every number is the fill value.
      array.values = {0.0F};
      H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
      if (H5Pfill_value_defined(data.creation, &defined) < 0 ||
          (defined != H5D_FILL_VALUE_UNDEFINED &&
           H5Pget_fill_value(data.creation, H5T_NATIVE_FLOAT, array.values.data()) < 0)) {
        damaged(name, where);
      }
    } else {
      numbers_ += data.count;
      if (stored > bytes_ || static_cast<uint64_t>(data.count) > kMostInflation * bytes_ ||
          numbers_ > kMostNumbers) {
        fail("{}: '{}' of {} claims {} numbers, more than the file can hold", origin_,
             excerpt(name), excerpt(where), data.count);
      }
      array.values.resize(static_cast<std::size_t>(data.count));
      if (H5Dread(data.id, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.values.data()) <
          0) {
        damaged(name, where);
      }
      if (kind == H5T_INTEGER && data.count <= NirArray::kMostIntegers) {
        array.integers.resize(static_cast<std::size_t>(data.count));
        if (H5Dread(data.id, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                    array.integers.data()) < 0) {
          damaged(name, where);
        }
      }
    }
    if (!std::ranges::all_of(array.values, [](float value) { return std::isfinite(value); })) {
      fail("{}: '{}' of {} holds a number that is not finite", origin_, excerpt(name),
           excerpt(where));
    }
    return array;
  }

  NirNode node(hid_t nodes, const std::string& name) {
    NirNode result{.name = name};
    const std::string where = "node '" + name + "'";
    const Hdf5Handle own = group(nodes, name, where);
    for (const std::string& member : members(own, where)) {
      if (is_group(own, member)) continue;  // metadata, or the nodes of a nested graph
      const Dataset data = dataset(own, member, where);
      if (!data.is_text()) {
        result.arrays[member] = array_of(data, member, where);
      } else if (member == "type") {
        result.type = text(own, member, where);
      } else if (data.count == 1) {
        result.texts[member] = texts_of(data, member, where).front();
      }
    }
    if (result.type.empty()) fail("{}: {} has no type", origin_, excerpt(where));
    result.metadata = metadata(own, where);
    return result;
  }

  std::vector<std::pair<std::string, std::string>> edges(hid_t root) const {
    const Dataset data = dataset(root, "edges", "the root");
    const bool pairs = data.shape.size() == 2 && data.shape[1] == 2;
    if (!pairs || !data.is_text() || data.shape[0] > kMostEdges) {
      fail("{}: its edges are not up to {} pairs of names", origin_, kMostEdges);
    }
    const std::vector<std::string> names = texts_of(data, "edges", "the root");
    std::vector<std::pair<std::string, std::string>> result;
    for (std::size_t i = 0; i + 1 < names.size(); i += 2) {
      result.emplace_back(names[i], names[i + 1]);
    }
    return result;
  }

  /// Texts and arrays; anything else that other tools store there is ignored.
  NirMetadata metadata(hid_t owner, const std::string& where) {
    NirMetadata result;
    if (!has(owner, "metadata") || !is_group(owner, "metadata")) return result;
    const Hdf5Handle own = group(owner, "metadata", where);
    for (const std::string& name : members(own, where)) {
      if (is_group(own, name)) continue;
      const Dataset data = dataset(own, name, where);
      if (data.is_text() && data.count == 1) {
        result.texts[name] = texts_of(data, name, where).front();
      } else if (!data.is_text()) {
        result.arrays[name] = array_of(data, name, where);
      }
    }
    return result;
  }

  static constexpr int64_t kMostNumbers = int64_t{1} << 31;

  const std::string& origin_;
  uint64_t bytes_;
  Hdf5Handle file_;
  int64_t numbers_ = 0;  // read so far
};

}  // namespace

NirGraph read_graph(std::span<const uint8_t> bytes, const std::string& origin) {
  return Reader(bytes, origin).read();
}

}  // namespace bntt
