#include "bntt/zoo.h"

#include <array>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/suggest.h"
#include "base/text.h"
#include "model/zoo_parts.h"

namespace bntt {
namespace {

using Builder = NetworkSpec (*)(const ZooOptions&);
constexpr std::array kZoo = {
    std::pair<const char*, Builder>{"vgg5", vgg5},
    std::pair<const char*, Builder>{"vgg9", vgg9},
    std::pair<const char*, Builder>{"vgg11", vgg11},
    std::pair<const char*, Builder>{"vgg16", vgg16},
    std::pair<const char*, Builder>{"rathi-vgg16", rathi_vgg16},
    std::pair<const char*, Builder>{"cao-net", cao_net},
    std::pair<const char*, Builder>{"cao-net-5x5", cao_net_5x5},
    std::pair<const char*, Builder>{"dvs-net", dvs_net},
    std::pair<const char*, Builder>{"cifarnet", cifarnet},
    std::pair<const char*, Builder>{"wu-dvs-net", wu_dvs_net},
    std::pair<const char*, Builder>{"plif-net", plif_net},
    std::pair<const char*, Builder>{"tebn-vgg9", tebn_vgg9},
    std::pair<const char*, Builder>{"resnet19", resnet19},
    std::pair<const char*, Builder>{"resnet20", resnet20},
    std::pair<const char*, Builder>{"sew-resnet18", sew_resnet18},
    std::pair<const char*, Builder>{"ms-resnet18", ms_resnet18},
};

}  // namespace

NetworkSpec vgg5(const ZooOptions& options) {
  const ZooParts with(options);
  return with.chain({
      with.conv(64), kPool,                   //
      with.conv(128), with.conv(128), kPool,  //
      with.dense(1024),                       //
  });
}

NetworkSpec vgg9(const ZooOptions& options) {
  const ZooParts with(options);
  return with.chain({
      with.conv(64), with.conv(64), kPool,                    //
      with.conv(128), with.conv(128), kPool,                  //
      with.conv(256), with.conv(256), with.conv(256), kPool,  //
      with.dense(1024),                                       //
  });
}

NetworkSpec vgg11(const ZooOptions& options) {
  const ZooParts with(options);
  return with.chain({
      with.conv(64), kPool,                         //
      with.conv(128), kPool,                        //
      with.conv(256), with.conv(256), kPool,        //
      with.conv(512), with.conv(512), kPool,        //
      with.conv(512), with.conv(512), kGlobalPool,  //
      with.dense(4096),                             //
  });
}

NetworkSpec vgg16(const ZooOptions& options) {
  const ZooParts with(options);
  return with.chain({
      with.conv(64),    with.conv(64),    kPool,                  //
      with.conv(128),   with.conv(128),   kPool,                  //
      with.conv(256),   with.conv(256),   with.conv(256), kPool,  //
      with.conv(512),   with.conv(512),   with.conv(512), kPool,  //
      with.conv(512),   with.conv(512),   with.conv(512), kPool,  //
      with.dense(4096), with.dense(4096),                         //
  });
}

NetworkSpec rathi_vgg16(const ZooOptions& options) {
  const ZooParts with(options);
  return with.chain({
      with.conv(64),    with.conv(64),    kPool,                  //
      with.conv(128),   with.conv(128),   kPool,                  //
      with.conv(256),   with.conv(256),   with.conv(256), kPool,  //
      with.conv(512),   with.conv(512),   with.conv(512), kPool,  //
      with.conv(512),   with.conv(512),   with.conv(512),         //
      with.dense(4096), with.dense(4096),                         //
  });
}

NetworkSpec cao_net(const ZooOptions& options) {
  const ZooParts with(options);
  return with.chain({
      with.conv(64), kPool,  //
      with.conv(64), kPool,  //
      with.conv(64), kPool,  //
      with.dense(64),        //
  });
}

NetworkSpec dvs_net(const ZooOptions& options) {
  const ZooParts with(options);
  return with.chain({
      with.conv(128), with.conv(256), kPool,  //
      with.conv(512), kPool,                  //
      with.conv(1024), with.conv(512),        //
      with.dense(1024), with.dense(512),      //
  });
}

namespace {

using Sources = std::vector<std::string>;

/// The number of blocks in a group of a residual network, and their channels; each group after the
/// first halves the map.
struct BlockGroup {
  int64_t blocks;
  int64_t channels;
};

SynapseSpec conv(int64_t channels, int64_t kernel, int64_t stride) {
  return {.kind = SynapseKind::conv,
          .outputs = channels,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2};
}

/// Builds a residual network block by block; the arrangement of the blocks is the same in all.
class ResidualBuilder {
 public:
  explicit ResidualBuilder(const ZooOptions& options) : with(options) {}

  const ZooParts with;

  void add(const std::string& name, std::vector<BranchSpec> branches) {
    stages_.emplace_back(BranchedStage{name, std::move(branches), with.neuron()});
  }
  void add(const std::string& name, std::vector<BranchSpec> branches, const NeuronSpec& neuron) {
    stages_.emplace_back(BranchedStage{name, std::move(branches), neuron});
  }
  void add(const StageSpec& stage) { stages_.push_back(stage); }

  /// Calls block(name, channels, stride, changes) for every block; `changes`: it changes the map.
  template <typename Block>
  static void for_each_block(std::initializer_list<BlockGroup> groups, int64_t stem_channels,
                             const Block& block) {
    int64_t number = 0;
    int64_t channels = stem_channels;
    for (const BlockGroup& group : groups) {
      for (int64_t i = 0; i < group.blocks; ++i) {
        const bool halves = i == 0 && &group != groups.begin();
        block("block" + std::to_string(++number), group.channels, halves ? 2 : 1,
              halves || channels != group.channels);
        channels = group.channels;
      }
    }
  }

  NetworkSpec finish(const Readout& readout) { return with.network(std::move(stages_), readout); }

 private:
  std::vector<StageSpec> stages_;
};

/// neurons(norm(conv3(neurons(norm(conv3 i)))) + shortcut): the shortcut is i itself, or norm(conv1
/// i) if the map changes.
void add_basic_blocks(ResidualBuilder& net, std::initializer_list<BlockGroup> groups,
                      int64_t stem_channels) {
  std::string before = "stem";
  ResidualBuilder::for_each_block(
      groups, stem_channels,
      [&](const std::string& name, int64_t channels, int64_t stride, bool changes) {
        const int64_t outputs = net.with.scaled(channels);
        net.add(
            name + "a",
            {{.source = {before}, .synapse = conv(outputs, 3, stride), .norm = net.with.norm()}});
        const BranchSpec shortcut =
            changes
                ? BranchSpec{.source = {before},
                             .synapse = conv(outputs, 1, stride),
                             .norm = net.with.norm()}
                : BranchSpec{.source = {before}, .synapse = kIdentity, .norm = {.kind = "none"}};
        net.add(
            name,
            {{.source = {name + "a"}, .synapse = conv(outputs, 3, 1), .norm = net.with.last_norm()},
             shortcut});
        before = name;
      });
}

}  // namespace

NetworkSpec resnet19(const ZooOptions& options) {
  ResidualBuilder net(options);
  net.add("stem", {{.synapse = conv(net.with.scaled(64), 3, 1), .norm = net.with.norm()}});
  add_basic_blocks(net, {{3, 128}, {3, 256}, {2, 512}}, 64);
  net.add(kGlobalPool);
  Dense hidden = net.with.dense(256);
  hidden.norm = NormSpec{.kind = "none"};
  hidden.bias = true;
  net.add(hidden);
  Readout readout = net.with.readout();
  readout.bias = true;
  return net.finish(readout);
}

NetworkSpec resnet20(const ZooOptions& options) {
  ResidualBuilder net(options);
  net.add("stem", {{.synapse = conv(net.with.scaled(16), 3, 1), .norm = net.with.norm()}});
  add_basic_blocks(net, {{3, 16}, {3, 32}, {3, 64}}, 16);
  net.add(kGlobalPool);
  return net.finish(net.with.readout());
}

// o = neurons(norm(conv3(neurons(norm(conv3 i))))) + i: spikes are added after firing. If the map
// changes, the shortcut is a stage of its own.
NetworkSpec sew_resnet18(const ZooOptions& options) {
  ResidualBuilder net(options);
  net.add("stem", {{.synapse = conv(net.with.scaled(64), 3, 1), .norm = net.with.norm()}});
  Sources before = {"stem"};
  ResidualBuilder::for_each_block(
      {{2, 64}, {2, 128}, {2, 256}, {2, 512}}, 64,
      [&](const std::string& name, int64_t channels, int64_t stride, bool changes) {
        const int64_t outputs = net.with.scaled(channels);
        const auto add = [&](const std::string& stage, const Sources& source, int64_t kernel,
                             int64_t step, const NormSpec& norm) {
          net.add(stage,
                  {{.source = source, .synapse = conv(outputs, kernel, step), .norm = norm}});
        };
        add(name + "a", before, 3, stride, net.with.norm());
        add(name, {name + "a"}, 3, 1, net.with.last_norm());
        if (changes) {
          add(name + "s", before, 1, stride, net.with.norm());
          before = {name + "s"};
        }
        before.push_back(name);
      });
  net.add(kGlobalPool);
  Readout readout = net.with.readout();
  readout.source = before;
  return net.finish(readout);
}

// c' = c + norm(conv3(neurons(norm(conv3(neurons(c)))))): a current runs through the network, and
// neurons read it. Stages without neurons hold it.
NetworkSpec ms_resnet18(const ZooOptions& options) {
  ResidualBuilder net(options);
  const NeuronSpec none{.kind = "none"};
  const NormSpec no_norm{.kind = "none"};
  net.add("stem", {{.synapse = conv(net.with.scaled(64), 3, 1), .norm = net.with.norm()}}, none);
  std::string current = "stem";
  ResidualBuilder::for_each_block(
      {{2, 64}, {2, 128}, {2, 256}, {2, 512}}, 64,
      [&](const std::string& name, int64_t channels, int64_t stride, bool changes) {
        const int64_t outputs = net.with.scaled(channels);
        net.add(name + "f", {{.source = {current}, .synapse = kIdentity, .norm = no_norm}});
        net.add(name + "a", {{.source = {name + "f"},
                              .synapse = conv(outputs, 3, stride),
                              .norm = net.with.norm()}});
        const BranchSpec shortcut =
            changes ? BranchSpec{.source = {current},
                                 .synapse = conv(outputs, 1, stride),
                                 .norm = net.with.norm()}
                    : BranchSpec{.source = {current}, .synapse = kIdentity, .norm = no_norm};
        net.add(
            name,
            {{.source = {name + "a"}, .synapse = conv(outputs, 3, 1), .norm = net.with.last_norm()},
             shortcut},
            none);
        current = name;
      });
  net.add("last", {{.source = {current}, .synapse = kIdentity, .norm = no_norm}});
  net.add(kGlobalPool);
  return net.finish(net.with.readout());
}

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  for (const auto& [name, build] : kZoo) names.emplace_back(name);
  return names;
}

NetworkSpec zoo_network(std::string_view name, const ZooOptions& options) {
  for (const auto& [known, build] : kZoo) {
    if (name == known) return build(options);
  }
  const std::vector<std::string> names = zoo_names();
  fail("unknown network '{}', expected one of {}{}", excerpt(name), fmt::join(names, ", "),
       did_you_mean(name, names));
}

}  // namespace bntt
