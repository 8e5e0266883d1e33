#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/descriptor.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/json.h"
#include "base/safetensors.h"
#include "exchange/hdf5.h"
#include "exchange/nir_file.h"
#include "exchange/nir_reader.h"

// libhdf5 crashes on files crafted to crash it, and on some that are merely damaged. So a separate
// process reads the file and returns the graph as safetensors, whose parser is safe for any input.
namespace bntt {
namespace {

constexpr uint64_t kLargestFile = uint64_t{8} << 30;
// Damaged files can make libhdf5 loop. Intact ones take well under a second for this many bytes.
constexpr rlim_t kBytesPerSecond = 20 << 20;
constexpr const char* kGraphKey = "graph";
constexpr int kRead = 0;
constexpr int kRefused = 1;
constexpr int kFailed = 2;

using Texts = std::map<std::string, std::string>;
using Arrays = std::map<std::string, NirArray>;

Json packed(const Texts& texts) {
  Json list = Json::array();
  for (const auto& [name, text] : texts) list.push_back(Json::array({name, text}));
  return list;
}

/// Numbers become tensors, named by their index.
Json packed(const Arrays& arrays, TensorFile& file) {
  Json list = Json::array();
  for (const auto& [name, array] : arrays) {
    const std::string tensor = std::to_string(file.tensors.size());
    list.push_back(Json::array({name, array.shape, array.integers, tensor}));
    file.tensors.push_back(
        float_tensor(tensor, {static_cast<int64_t>(array.values.size())}, array.values));
  }
  return list;
}

TensorFile packed(const NirGraph& graph) {
  TensorFile file;
  Json nodes = Json::array();
  for (const NirNode& node : graph.nodes) {
    nodes.push_back(
        Json::array({node.name, node.type, packed(node.texts), packed(node.arrays, file),
                     packed(node.metadata.texts), packed(node.metadata.arrays, file)}));
  }
  Json edges = Json::array();
  for (const auto& [from, to] : graph.edges) edges.push_back(Json::array({from, to}));
  const Json all = Json::array({graph.version, nodes, edges, packed(graph.metadata.texts),
                                packed(graph.metadata.arrays, file)});
  // Names in a damaged file need not be UTF-8.
  file.metadata[kGraphKey] = all.dump(-1, ' ', false, Json::error_handler_t::replace);
  return file;
}

Texts unpacked_texts(const Json& list) {
  Texts texts;
  for (const Json& entry : list) {
    texts[entry.at(0).get<std::string>()] = entry.at(1).get<std::string>();
  }
  return texts;
}

Arrays unpacked_arrays(const Json& list, const TensorFile& file, const std::string& origin) {
  Arrays arrays;
  for (const Json& entry : list) {
    NirArray array{.shape = entry.at(1).get<std::vector<int64_t>>(),
                   .values = {},
                   .integers = entry.at(2).get<std::vector<int64_t>>()};
    const Tensor* tensor = file.find(entry.at(3).get<std::string>());
    if (tensor == nullptr) fail("{}: is damaged", origin);
    const std::span<const float> values = tensor->floats();
    array.values.assign(values.begin(), values.end());
    if (array.values.size() != 1 && std::ssize(array.values) != array.size()) {
      fail("{}: is damaged", origin);
    }
    arrays[entry.at(0).get<std::string>()] = std::move(array);
  }
  return arrays;
}

NirGraph unpacked(const TensorFile& file, const std::string& origin) {
  const auto text = file.metadata.find(kGraphKey);
  if (text == file.metadata.end()) fail("{}: is damaged", origin);
  try {
    const Json all = parse_json(text->second, origin);
    NirGraph graph{.version = all.at(0).get<std::string>()};
    for (const Json& node : all.at(1)) {
      graph.nodes.push_back(
          {.name = node.at(0).get<std::string>(),
           .type = node.at(1).get<std::string>(),
           .arrays = unpacked_arrays(node.at(3), file, origin),
           .texts = unpacked_texts(node.at(2)),
           .metadata = {unpacked_texts(node.at(4)), unpacked_arrays(node.at(5), file, origin)}});
    }
    for (const Json& edge : all.at(2)) {
      graph.edges.emplace_back(edge.at(0).get<std::string>(), edge.at(1).get<std::string>());
    }
    graph.metadata = {unpacked_texts(all.at(3)), unpacked_arrays(all.at(4), file, origin)};
    return graph;
  } catch (const Json::exception&) {
    fail("{}: is damaged", origin);
  }
}

/// Runs in the child: writes the graph, or the sentence that says why there is none.
int read_into(int result, std::span<const uint8_t> bytes, const std::string& origin) {
  // Signal handlers and crash reporters are meant for the parent.
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) std::signal(signal, SIG_DFL);
  const rlimit none{0, 0};
  const rlim_t most = 1 + bytes.size() / kBytesPerSecond;
  const rlimit seconds{most, most};
  ::setrlimit(RLIMIT_CORE, &none);
  ::setrlimit(RLIMIT_CPU, &seconds);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDERR_FILENO);
  try {
    const std::vector<uint8_t> graph =
        format_tensors(packed(read_graph(bytes, origin)), {.checksum = false});
    return write_all(result, graph.data(), graph.size()) ? kRead : kFailed;
  } catch (const Error& error) {
    const std::string_view sentence = error.what();
    return write_all(result, sentence.data(), sentence.size()) ? kRefused : kFailed;
  } catch (const std::exception&) {
    return kFailed;
  }
}

std::vector<uint8_t> contents(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return {};
  std::vector<uint8_t> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

}  // namespace

NirGraph parse_nir(std::span<const uint8_t> bytes, const std::string& origin) {
  constexpr std::array<uint8_t, 8> kSignature = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  if (bytes.size() < kSignature.size() ||
      !std::equal(kSignature.begin(), kSignature.end(), bytes.begin())) {
    fail("{}: is not an HDF5 file, which every NIR file is", origin);
  }
  const Descriptor result(::memfd_create("bntt-nir", MFD_CLOEXEC));
  int status = 0;
  {
    const Hdf5Lock lock;  // no other thread is inside libhdf5 during the fork
    const pid_t child = result.get() < 0 ? -1 : ::fork();
    if (child < 0) fail("{}: could not start a process to read it: {}", origin, system_message());
    if (child == 0) ::_exit(read_into(result.get(), bytes, origin));
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  const int end = WIFEXITED(status) ? WEXITSTATUS(status) : kFailed;
  const std::vector<uint8_t> left = contents(result.get());
  if (end == kRefused) throw Error(std::string(left.begin(), left.end()));
  if (end != kRead) fail("{}: is damaged: libhdf5 cannot read it", origin);
  return unpacked(parse_tensors(left, origin), origin);
}

NirGraph read_nir(const std::filesystem::path& path) {
  return parse_nir(read_file(path, kLargestFile), path.string());
}

}  // namespace bntt
