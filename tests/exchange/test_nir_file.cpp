#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>

#include "exchange/nir_file.h"
#include "fixtures.h"
#include "graphs.h"
#include "message.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using testing::small_graph;

NirGraph sorted(NirGraph graph) {
  std::ranges::sort(graph.nodes, {}, &NirNode::name);
  return graph;
}

TEST(NirFile, WhatIsWrittenIsRead) {
  NirGraph graph = small_graph();
  graph.metadata.texts["producer"] = "a test, größer";
  graph.metadata.arrays["dt"] = {.shape = {}, .values = {1e-4F}, .integers = {}};
  graph.nodes[1].metadata.arrays["rows"] = testing::floats({2, 2}, {1, 2, 3, 4});
  graph.nodes[1].texts["padding"] = "same";
  EXPECT_EQ(sorted(parse_nir(format_nir(graph), "file")), sorted(graph));
}

TEST(NirFile, OneValueForAllTakesNoRoomAndIsReadWithoutAny) {
  NirGraph graph = small_graph();
  const std::size_t small = format_nir(graph).size();
  graph.nodes[2] = testing::lif_node("lif", {512, 64, 64});
  const std::vector<uint8_t> bytes = format_nir(graph);
  EXPECT_LT(bytes.size(), small + 4096);
  const NirGraph read = parse_nir(bytes, "file");
  for (const NirNode& node : read.nodes) {
    if (node.name != "lif") continue;
    EXPECT_EQ(node.arrays.at("tau").shape, (std::vector<int64_t>{512, 64, 64}));
    EXPECT_EQ(node.arrays.at("tau").values, std::vector<float>{1e-3F});
  }
}

TEST(NirFile, OtherFilesAndCutOnesAreRefused) {
  EXPECT_THAT(message_of([] { parse_nir({}, "empty"); }), HasSubstr("empty: is not an HDF5 file"));
  const std::vector<uint8_t> bytes = format_nir(small_graph());
  for (const std::size_t size : {std::size_t{9}, std::size_t{200}, bytes.size() / 2}) {
    const std::string told = message_of([&] { parse_nir(std::span(bytes).first(size), "cut"); });
    EXPECT_THAT(told, HasSubstr("cut: ")) << size;
    EXPECT_EQ(std::ranges::count(told, '\n'), 0) << told;
  }
}

/// Files as others may write them, with libhdf5 itself.
class ForeignFile : public ::testing::Test {
 protected:
  /// `change` gets the group of node 'fc' in a file that is whole without it.
  template <typename Change>
  std::string refusal(const Change& change) const {
    const std::filesystem::path path = directory_.path() / "foreign.nir";
    write_nir(path, small_graph());
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t node = H5Gopen2(file, "node/nodes/fc", H5P_DEFAULT);
    change(node);
    H5Gclose(node);
    H5Fclose(file);
    return message_of([&] { read_nir(path); });
  }

  testing::TemporaryDirectory directory_;
};

TEST_F(ForeignFile, CompressedChunksAreRead) {
  EXPECT_EQ(refusal([](hid_t node) {
              const hsize_t extents[2] = {64, 64};
              const hid_t space = H5Screate_simple(2, extents, nullptr);
              const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
              H5Pset_chunk(creation, 2, extents);
              H5Pset_shuffle(creation);
              H5Pset_deflate(creation, 4);
              const hid_t data = H5Dcreate2(node, "packed", H5T_IEEE_F64LE, space, H5P_DEFAULT,
                                            creation, H5P_DEFAULT);
              const std::vector<double> values(64 * 64, 2.5);
              H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
              H5Dclose(data);
              H5Pclose(creation);
              H5Sclose(space);
            }),
            "");
}

TEST_F(ForeignFile, NothingOutsideTheFileIsRead) {
  directory_.write("secret", std::vector<uint8_t>{1, 2, 3, 4});
  const std::string other = (directory_.path() / "secret").string();
  EXPECT_THAT(refusal([&](hid_t node) {
                const hsize_t extents[1] = {1};
                const hid_t space = H5Screate_simple(1, extents, nullptr);
                const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
                H5Pset_external(creation, other.c_str(), 0, 4);
                H5Dclose(H5Dcreate2(node, "outside", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation,
                                    H5P_DEFAULT));
                H5Pclose(creation);
                H5Sclose(space);
              }),
              HasSubstr("'outside' of node 'fc' is stored in a way that NIR files do not use"));
  EXPECT_THAT(refusal([&](hid_t node) {
                H5Lcreate_external(other.c_str(), "/", node, "link", H5P_DEFAULT, H5P_DEFAULT);
              }),
              HasSubstr("node 'fc' holds a link"));
}

TEST_F(ForeignFile, NumbersThatAreNotThereOrNotFiniteAreRefused) {
  EXPECT_THAT(refusal([](hid_t node) {
                const hsize_t extents[2] = {1U << 20, 1U << 20};
                const hid_t space = H5Screate_simple(2, extents, nullptr);
                H5Dclose(H5Dcreate2(node, "huge", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT,
                                    H5P_DEFAULT));
                H5Sclose(space);
              }),
              HasSubstr("'huge' of node 'fc' is empty or has more than"));
  EXPECT_THAT(refusal([](hid_t node) {
                const hsize_t extents[1] = {1};
                const hid_t space = H5Screate_simple(1, extents, nullptr);
                const hid_t data = H5Dcreate2(node, "nan", H5T_IEEE_F64LE, space, H5P_DEFAULT,
                                              H5P_DEFAULT, H5P_DEFAULT);
                const double value = 1e300;  // infinite as a float
                H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
                H5Dclose(data);
                H5Sclose(space);
              }),
              HasSubstr("'nan' of node 'fc' holds a number that is not finite"));
}

}  // namespace
}  // namespace bntt
