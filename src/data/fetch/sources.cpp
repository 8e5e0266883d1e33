#include "fetch/sources.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/fail.h"
#include "base/fields.h"
#include "base/suggest.h"
#include "base/text.h"
#include "toml/toml.h"

namespace bntt {

template <class Visitor>
void visit_fields(Visitor& visit, SourceFile& file) {
  visit("name", file.name);
  visit("url", file.url);
  visit("bytes", file.bytes, at_least(0));
  visit("max_bytes", file.max_bytes, at_least(0));
  visit("md5", file.md5);
  visit("sha256", file.sha256);
  visit("folder", file.folder);
  visit("max_entries", file.max_entries, at_least(0));
  visit("max_unpacked_bytes", file.max_unpacked_bytes, at_least(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, DataSource& source) {
  visit("page", source.page);
  visit("file", source.files);
}

namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;

SourceFile cifar(const std::string& name, int64_t bytes, const std::string& md5,
                 const std::string& folder) {
  return {.name = name,
          .url = "https://www.cs.toronto.edu/~kriz/" + name,
          .bytes = bytes,
          .md5 = md5,
          .folder = folder,
          .max_entries = 64,
          .max_unpacked_bytes = 256 * kMiB};
}

SourceFile idx(const std::string& place, const std::string& name, int64_t bytes,
               const std::string& md5) {
  return {.name = name, .url = place + name, .bytes = bytes, .md5 = md5};
}

// The publishers of the event recordings give no sizes: these are limits, about twice the usual
// size.
SourceFile dvs_cifar10(const std::string& label, int file, const std::string& md5) {
  return {.name = label + ".zip",
          .url = fmt::format("https://ndownloader.figshare.com/files/{}", file),
          .max_bytes = 2 * kGiB,
          .md5 = md5,
          .folder = label,
          .max_entries = 2000,
          .max_unpacked_bytes = 8 * kGiB};
}

SourceFile nmnist(const std::string& folder, const std::string& file, const std::string& md5) {
  return {.name = folder + ".zip",
          .url = fmt::format(
              "https://data.mendeley.com/public-files/datasets/468j46mzdv/files/{}/file_downloaded",
              file),
          .max_bytes = 2 * kGiB,
          .md5 = md5,
          .folder = folder,
          .max_entries = 100'000,
          .max_unpacked_bytes = 4 * kGiB};
}

const std::vector<DataSource>& sources() {
  static const std::string mnist_place = "https://ossci-datasets.s3.amazonaws.com/mnist/";
  static const std::string fashion_place =
      "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/";
  static const std::vector<DataSource> all = {
      {.dataset = "cifar10",
       .page = "https://www.cs.toronto.edu/~kriz/cifar.html",
       .files = {cifar("cifar-10-binary.tar.gz", 170'052'171, "c32a1d4ab5d03f1284b67883e8d87530",
                       "cifar-10-batches-bin")}},
      {.dataset = "cifar100",
       .page = "https://www.cs.toronto.edu/~kriz/cifar.html",
       .files = {cifar("cifar-100-binary.tar.gz", 168'513'733, "03b5dce01913d631647c71ecec9e9cb8",
                       "cifar-100-binary")}},
      {.dataset = "tiny-imagenet",
       .page = "http://cs231n.stanford.edu/",
       .files = {{.name = "tiny-imagenet-200.zip",
                  .url = "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
                  .bytes = 248'100'043,
                  .md5 = "90528d7ca1a48142e341f4ef8d21d0de",
                  .folder = "tiny-imagenet-200",
                  .max_entries = 200'000,
                  .max_unpacked_bytes = 2 * kGiB}}},
      {.dataset = "mnist",
       .page = "https://github.com/cvdfoundation/mnist",
       .files = {idx(mnist_place, "train-images-idx3-ubyte.gz", 9'912'422,
                     "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
                 idx(mnist_place, "train-labels-idx1-ubyte.gz", 28'881,
                     "d53e105ee54ea40749a09fcbcd1e9432"),
                 idx(mnist_place, "t10k-images-idx3-ubyte.gz", 1'648'877,
                     "9fb629c4189551a2d022fa330f9573f3"),
                 idx(mnist_place, "t10k-labels-idx1-ubyte.gz", 4'542,
                     "ec29112dd5afa0611ce80d1b7f02629c")}},
      {.dataset = "fashion-mnist",
       .page = "https://github.com/zalandoresearch/fashion-mnist",
       .files = {idx(fashion_place, "train-images-idx3-ubyte.gz", 26'421'880,
                     "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
                 idx(fashion_place, "train-labels-idx1-ubyte.gz", 29'515,
                     "25c81989df183df01b3e8a0aad5dffbe"),
                 idx(fashion_place, "t10k-images-idx3-ubyte.gz", 4'422'102,
                     "bef4ecab320f06d8554ea6380940ec79"),
                 idx(fashion_place, "t10k-labels-idx1-ubyte.gz", 5'148,
                     "bb300cfdad3c16e7a12a480ee83cd310")}},
      {.dataset = "dvs-cifar10",
       .page = "https://figshare.com/articles/dataset/CIFAR10-DVS_New/4724671",
       .files = {dvs_cifar10("airplane", 7712788, "0afd5c4bf9ae06af762a77b180354fdd"),
                 dvs_cifar10("automobile", 7712791, "8438dfeba3bc970c94962d995b1b9bdd"),
                 dvs_cifar10("bird", 7712794, "a9c207c91c55b9dc2002dc21c684d785"),
                 dvs_cifar10("cat", 7712812, "52c63c677c2b15fa5146a8daf4d56687"),
                 dvs_cifar10("deer", 7712815, "b6bf21f6c04d21ba4e23fc3e36c8a4a3"),
                 dvs_cifar10("dog", 7712818, "f379ebdf6703d16e0a690782e62639c3"),
                 dvs_cifar10("frog", 7712842, "cad6ed91214b1c7388a5f6ee56d08803"),
                 dvs_cifar10("horse", 7712851, "e7cbbf77bec584ffbf913f00e682782a"),
                 dvs_cifar10("ship", 7712836, "41c7bd7d6b251be82557c6cce9a7d5c9"),
                 dvs_cifar10("truck", 7712839, "89f3922fd147d9aeff89e76a2b0b70a7")}},
      {.dataset = "nmnist",
       .page = "https://www.garrickorchard.com/datasets/n-mnist",
       .files = {nmnist("Train", "39c25547-014b-4137-a934-9d29fa53c7a0",
                        "20959b8e626244a1b502305a9e6e2031"),
                 nmnist("Test", "05a4d654-7e03-4c15-bdfa-9bb2bcbea494",
                        "69ca8762b2fe404d9b9bad1103e97832")}},
      {.dataset = "dvs-gesture",
       .page = "https://ibm.ent.box.com/s/3hiq58ww1pbbjrinh367ykfdf60xsfm8/folder/50167556794",
       .instructions = "IBM requires that its terms are accepted on a web page; accept them, put "
                       "DvsGesture.tar.gz into that directory and run this command again to verify "
                       "and unpack it",
       .files = {{.name = "DvsGesture.tar.gz",
                  .max_bytes = 8 * kGiB,
                  .md5 = "8a5c71fb11e24e5ca5b11866ca6c00a1",
                  .folder = "DvsGesture",
                  .max_entries = 1000,
                  .max_unpacked_bytes = 16 * kGiB}}},
  };
  return all;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && !name.starts_with('.') && name.find('/') == std::string_view::npos &&
         std::ranges::none_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

void validate(const SourceFile& file, const std::string& origin) {
  if (!is_plain_name(file.name)) {
    fail("{}: a file has the name '{}', expected a name without '/' that begins with no dot",
         origin, excerpt(file.name));
  }
  if (file.is_archive() && !is_plain_name(file.folder)) {
    fail("{}: {} has the folder '{}', expected a name without '/' that begins with no dot", origin,
         file.name, excerpt(file.folder));
  }
  if (!file.md5.empty() && !is_hex(file.md5, 32)) {
    fail("{}: {} has the md5 '{}', expected 32 digits 0-9, a-f", origin, file.name,
         excerpt(file.md5));
  }
  if (!file.sha256.empty() && !is_hex(file.sha256, 64)) {
    fail("{}: {} has the sha256 '{}', expected 64 digits 0-9, a-f", origin, file.name,
         excerpt(file.sha256));
  }
  if (file.bytes == 0 && file.max_bytes == 0) {
    fail("{}: {} has neither bytes nor max_bytes, expected one of them", origin, file.name);
  }
  if (file.is_archive() && (file.max_entries == 0 || file.max_unpacked_bytes == 0)) {
    fail("{}: {} is an archive without max_entries or max_unpacked_bytes, expected both", origin,
         file.name);
  }
}

}  // namespace

std::optional<Checksum> SourceFile::checksum() const {
  if (!sha256.empty()) return Checksum{DigestKind::sha256, sha256};
  if (!md5.empty()) return Checksum{DigestKind::md5, md5};
  return std::nullopt;
}

std::vector<std::string> source_names() {
  std::vector<std::string> names;
  for (const DataSource& source : sources()) names.push_back(source.dataset);
  return names;
}

const DataSource& official_source(std::string_view dataset) {
  const auto found = std::ranges::find(sources(), dataset, &DataSource::dataset);
  if (found == sources().end()) {
    const std::vector<std::string> known = source_names();
    fail("no download source is known for '{}', expected one of {}{}", excerpt(dataset),
         fmt::join(known, ", "), did_you_mean(dataset, known));
  }
  return *found;
}

DataSource source_from_toml(const std::string& text, const std::string& origin,
                            std::string_view dataset) {
  DataSource source;
  read_fields(parse_toml(text, origin), source, origin);
  source.dataset = dataset;
  if (source.files.empty()) fail("{}: names no [[file]], expected at least one", origin);
  for (const SourceFile& file : source.files) {
    validate(file, origin);
    if (std::ranges::count(source.files, file.name, &SourceFile::name) > 1) {
      fail("{}: names the file {} twice", origin, file.name);
    }
    if (file.is_archive() &&
        std::ranges::count(source.files, file.folder, &SourceFile::folder) > 1) {
      fail("{}: unpacks two archives to the folder {}", origin, file.folder);
    }
  }
  return source;
}

DataSource at_mirror(DataSource source, const std::string& from) {
  for (SourceFile& file : source.files) {
    const bool itself = source.files.size() == 1 && from.ends_with("/" + file.name);
    file.url = itself ? from : from + (from.ends_with('/') ? "" : "/") + file.name;
  }
  return source;
}

}  // namespace bntt
