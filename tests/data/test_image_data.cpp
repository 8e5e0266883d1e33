#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "data/image_file.h"
#include "data/image_folders.h"
#include "sample_files.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using testing::append_big_endian;
using testing::Bytes;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::jpeg_file;
using testing::png_file;
using testing::refusal;
using testing::TemporaryDirectory;
using testing::text_bytes;

TEST(ImageFile, PngIsExact) {
  const Bytes pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 250, 251, 252};
  const Picture image = decode_picture(png_file(2, 2, pixels), "file");
  EXPECT_EQ(image.width, 2);
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.pixels, pixels);
}

TEST(ImageFile, GreyJpegBecomesThreeChannels) {
  const Picture image = decode_picture(jpeg_file(8, 8, Bytes(64, 100), true), "file");
  EXPECT_EQ(image.pixels.size(), 192U);
  EXPECT_THAT(image.pixels, Each(100));
}

/// A grey PNG file of [y, x] with 16 bits, which says nothing about their meaning.
Bytes deep_png_file(uint32_t width, uint32_t height, const std::vector<uint16_t>& grey) {
  Bytes file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  const auto append = [&](const std::string& name, const Bytes& contents) {
    append_big_endian(static_cast<uint32_t>(contents.size()), file);
    const std::size_t begin = file.size();
    file.insert(file.end(), name.begin(), name.end());
    file.insert(file.end(), contents.begin(), contents.end());
    append_big_endian(static_cast<uint32_t>(
                          crc32(0, file.data() + begin, static_cast<uInt>(file.size() - begin))),
                      file);
  };
  Bytes header;
  append_big_endian(width, header);
  append_big_endian(height, header);
  for (const uint8_t byte : {16, 0, 0, 0, 0}) header.push_back(byte);
  Bytes rows;
  for (std::size_t i = 0; i < grey.size(); ++i) {
    if (i % width == 0) rows.push_back(0);
    rows.push_back(static_cast<uint8_t>(grey[i] >> 8));
    rows.push_back(static_cast<uint8_t>(grey[i] & 0xff));
  }
  Bytes packed(compressBound(rows.size()));
  uLongf size = packed.size();
  compress(packed.data(), &size, rows.data(), rows.size());
  packed.resize(size);
  append("IHDR", header);
  append("IDAT", packed);
  append("IEND", {});
  return file;
}

TEST(ImageFile, DeepPngKeepsItsBrightness) {
  const Picture image = decode_picture(deep_png_file(3, 1, {0, 100 * 257, 255 * 257}), "file");
  EXPECT_THAT(image.pixels, ElementsAre(0, 0, 0, 100, 100, 100, 255, 255, 255));
}

TEST(ImageFile, JpegOfInksBecomesColours) {
  // Stored inverted: no magenta, some cyan, all yellow, little black.
  Bytes inks;
  for (int i = 0; i < 64; ++i) {
    for (const uint8_t value : {100, 255, 0, 204}) inks.push_back(value);
  }
  const tjhandle encoder = tjInitCompress();
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  ASSERT_EQ(
      tjCompress2(encoder, inks.data(), 8, 0, 8, TJPF_CMYK, &memory, &size, TJSAMP_444, 100, 0), 0);
  const Picture image = decode_picture({memory, size}, "file");
  tjFree(memory);
  tjDestroy(encoder);
  ASSERT_EQ(image.pixels.size(), 192U);
  EXPECT_NEAR(image.pixels[0], 80, 3);
  EXPECT_NEAR(image.pixels[1], 204, 3);
  EXPECT_NEAR(image.pixels[2], 0, 3);
}

TEST(ImageFile, RefusesDamagedFiles) {
  const Bytes jpeg = jpeg_file(32, 32, Bytes(3072, 77));
  const Bytes png = png_file(4, 4, Bytes(48, 9));
  EXPECT_EQ(refusal([] { decode_picture(text_bytes("GIF89a"), "file"); }),
            "file is neither a JPEG nor a PNG file");
  EXPECT_THAT(refusal([&] {
                decode_picture({jpeg.data(), jpeg.size() / 2}, "file");
              }),
              HasSubstr("file is a damaged JPEG file: "));
  EXPECT_THAT(refusal([&] {
                decode_picture({png.data(), png.size() - 20}, "file");
              }),
              HasSubstr("file is a damaged PNG file: "));
}

TEST(ImageFile, BelievesNoSizeThatTheFileCannotHold) {
  Bytes png = png_file(4, 4, Bytes(48, 9));
  // Width and height, then the checksum of their chunk, which libpng would miss.
  for (const std::size_t place : {16U, 20U}) png[place] = 0x7f;
  const auto crc = static_cast<uint32_t>(crc32(0, png.data() + 12, 17));
  for (int i = 0; i < 4; ++i) png[29 + i] = static_cast<uint8_t>(crc >> (24 - 8 * i));
  EXPECT_THAT(refusal([&] { decode_picture(png, "file"); }), HasSubstr("file "));
  Bytes jpeg = jpeg_file(8, 8, Bytes(192, 77));
  for (std::size_t i = 0; i + 1 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xff && jpeg[i + 1] == 0xc0) {
      for (int k = 5; k < 9; ++k) jpeg[i + k] = 0xf0;
    }
  }
  EXPECT_THAT(refusal([&] { decode_picture(jpeg, "file"); }),
              AllOf(HasSubstr("announces 61680x61680 pixels"), HasSubstr("in a file of")));
}

TEST(ImageFile, FitsByCroppingOrSqueezing) {
  // Four columns: two black, two white; two rows.
  Picture image{.width = 4, .height = 2, .pixels = {}};
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 4; ++x) image.pixels.insert(image.pixels.end(), 3, x < 2 ? 0 : 200);
  }
  Bytes out(12);
  fit_image(view_of(image), {2, 2}, Fit::crop, out.data());
  EXPECT_THAT(out, ElementsAre(0, 0, 0, 200, 200, 200, 0, 0, 0, 200, 200, 200));
  fit_image(view_of(image), {2, 2}, Fit::squeeze, out.data());
  EXPECT_LT(out[0], 40);
  EXPECT_GT(out[3], 160);
  Bytes one(3);
  fit_image(view_of(image), {1, 1}, Fit::squeeze, one.data());
  EXPECT_THAT(one, Each(100));
}

TEST(Annotations, NameFilesAndClasses) {
  EXPECT_THAT(
      parse_annotations("val_0.JPEG\tn02\t1\t2\t3\t4\r\nval_1.JPEG\tn01\n", {"n01", "n02"},
                        "images", "file"),
      ElementsAre(LabelledFile{"images/val_0.JPEG", 1}, LabelledFile{"images/val_1.JPEG", 0}));
  const auto refused = [](const std::string& text) {
    return refusal([&] { parse_annotations(text, {"n01"}, "images", "file"); });
  };
  EXPECT_EQ(refused("val_0.JPEG n01"),
            "file: line 1 has no tab, expected a file name, a tab and a class");
  EXPECT_EQ(refused("a\tn01\nb\tn03\n"),
            "file: line 2 names the class 'n03', which wnids.txt does not have");
  EXPECT_EQ(refused("../../etc/passwd\tn01"),
            "file: line 1 names the file '../../etc/passwd', expected one of val/images");
}

TEST(TinyImageNet, ReadsTheOfficialLayout) {
  const TemporaryDirectory directory;
  const auto write = [&](const std::string& name, uint8_t grey) {
    directory.write("tiny-imagenet-200/" + name, jpeg_file(64, 64, Bytes(64 * 64, grey), true));
  };
  directory.write("tiny-imagenet-200/wnids.txt", text_bytes("n02\nn01\n"));
  for (const char* name : {"n02_0.JPEG", "n02_1.JPEG"}) {
    write(std::string("train/n02/images/") + name, 20);
  }
  write("train/n01/images/n01_0.JPEG", 10);
  write("val/images/val_0.JPEG", 30);
  directory.write("tiny-imagenet-200/val/val_annotations.txt",
                  text_bytes("val_0.JPEG\tn01\t0\t0\t63\t63\n"));
  const DatasetSplits data = open_dataset("tiny-imagenet", directory.path());
  EXPECT_EQ(data.train.shape, (MapShape{3, 64, 64}));
  EXPECT_THAT(data.train.labels, ElementsAre(0, 1, 0));
  EXPECT_THAT(data.test.labels, ElementsAre(1));
  EXPECT_EQ(data.train.image(0)[100], 20);
  EXPECT_EQ(data.train.image(1)[100], 10);
  EXPECT_THAT(data.test.pixels, Each(30));
  EXPECT_EQ(data.train.class_names, (std::vector<std::string>{"n02", "n01"}));

  directory.write("tiny-imagenet-200/val/images/val_0.JPEG", text_bytes("\xff\xd8\xff nothing"));
  EXPECT_THAT(refusal([&] { open_dataset("tiny-imagenet", directory.path()); }),
              HasSubstr("val_0.JPEG is a damaged JPEG file"));
}

class ImageFolder : public ::testing::Test {
 protected:
  void write(const std::string& name, uint8_t value) const {
    directory_.write(name, png_file(40, 40, Bytes(4800, value)));
  }
  DatasetSplits open(const DatasetOptions& options = {}) const {
    return open_dataset("folder", directory_.path(), options);
  }
  TemporaryDirectory directory_;
};

TEST_F(ImageFolder, SplitsClassesByName) {
  for (int i = 0; i < 20; ++i) {
    write("cats/" + std::to_string(i) + ".png", 51);
    write("dogs/" + std::to_string(i) + ".png", 204);
  }
  const DatasetSplits data = open({.size = 16});
  EXPECT_EQ(data.train.class_names, (std::vector<std::string>{"cats", "dogs"}));
  EXPECT_EQ(data.train.size(), 36);
  EXPECT_THAT(data.test.labels, ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(data.train.shape, (MapShape{3, 16, 16}));
  EXPECT_EQ(data.train.image(1)[5], 204);
  EXPECT_THAT(data.normalisation.mean, Each(0.5F));
  EXPECT_THAT(data.normalisation.deviation, Each(::testing::FloatNear(0.3F, 1e-6F)));
}

TEST_F(ImageFolder, TakesTheSplitThatIsThere) {
  write("train/a/1.png", 1);
  write("train/b/1.png", 2);
  write("val/a/1.png", 3);
  write("val/b/1.png", 4);
  EXPECT_THAT(open().train.labels, ElementsAre(0, 1));
  EXPECT_EQ(open().test.image(1)[0], 4);
  std::filesystem::rename(directory_.path() / "val/b", directory_.path() / "val/c");
  EXPECT_THAT(refusal([&] { open(); }), HasSubstr("has different class folders from"));
  std::filesystem::remove_all(directory_.path() / "val");
  EXPECT_THAT(refusal([&] { open(); }), EndsWith("has a folder train but neither test nor val"));
}

TEST_F(ImageFolder, RefusesOneClassAndEmptyFolders) {
  EXPECT_THAT(refusal([&] { open(); }), EndsWith("expected one for each class"));
  write("cats/1.png", 1);
  EXPECT_EQ(refusal([&] { open(); }),
            "folder: " + directory_.path().string() +
                " holds one class folder, 'cats', expected at least two classes");
  std::filesystem::create_directory(directory_.path() / "empty");
  EXPECT_THAT(refusal([&] { open(); }), EndsWith("expected some that end in .jpeg, .jpg, .png"));
}

}  // namespace
}  // namespace bntt
