#include "bntt/zoo.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/fail.h"
#include "base/suggest.h"
#include "base/text.h"

namespace bntt {
namespace {

constexpr double kMaxWidth = 64.0;

/// The pieces that every network of the zoo is made of.
class Parts {
 public:
  explicit Parts(const ZooOptions& options) : options_(options) {
    if (!(options.width > 0.0 && options.width <= kMaxWidth)) {
      fail("width is {}, expected a number above 0 and at most {}", options.width, kMaxWidth);
    }
  }

  Conv3x3 conv(int64_t channels) const {
    return {scaled(channels), options_.norm, options_.neuron};
  }
  Dense dense(int64_t features) const { return {scaled(features), options_.norm, options_.neuron}; }
  NetworkSpec chain(std::initializer_list<StageSpec> hidden) const {
    std::vector<StageSpec> stages(hidden);
    stages.emplace_back(Readout{options_.classes, options_.readout_norm, options_.divide_by_steps});
    return {options_.input, options_.steps, options_.propagation, std::move(stages)};
  }

 private:
  int64_t scaled(int64_t count) const {
    return std::max<int64_t>(1, std::llround(static_cast<double>(count) * options_.width));
  }

  const ZooOptions& options_;
};

constexpr AvgPool kPool{.size = 2};
constexpr AvgPool kGlobalPool{.size = 0};

using Builder = NetworkSpec (*)(const ZooOptions&);
constexpr std::array kZoo = {
    std::pair<const char*, Builder>{"vgg5", vgg5},
    std::pair<const char*, Builder>{"vgg9", vgg9},
    std::pair<const char*, Builder>{"vgg11", vgg11},
    std::pair<const char*, Builder>{"vgg16", vgg16},
    std::pair<const char*, Builder>{"cao-net", cao_net},
    std::pair<const char*, Builder>{"dvs-net", dvs_net},
};

}  // namespace

NetworkSpec vgg5(const ZooOptions& options) {
  const Parts with(options);
  return with.chain({
      with.conv(64), kPool,                   //
      with.conv(128), with.conv(128), kPool,  //
      with.dense(1024),                       //
  });
}

NetworkSpec vgg9(const ZooOptions& options) {
  const Parts with(options);
  return with.chain({
      with.conv(64), with.conv(64), kPool,                    //
      with.conv(128), with.conv(128), kPool,                  //
      with.conv(256), with.conv(256), with.conv(256), kPool,  //
      with.dense(1024),                                       //
  });
}

NetworkSpec vgg11(const ZooOptions& options) {
  const Parts with(options);
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
  const Parts with(options);
  return with.chain({
      with.conv(64),    with.conv(64),    kPool,                  //
      with.conv(128),   with.conv(128),   kPool,                  //
      with.conv(256),   with.conv(256),   with.conv(256), kPool,  //
      with.conv(512),   with.conv(512),   with.conv(512), kPool,  //
      with.conv(512),   with.conv(512),   with.conv(512), kPool,  //
      with.dense(4096), with.dense(4096),                         //
  });
}

NetworkSpec cao_net(const ZooOptions& options) {
  const Parts with(options);
  return with.chain({
      with.conv(64), kPool,  //
      with.conv(64), kPool,  //
      with.conv(64), kPool,  //
      with.dense(64),        //
  });
}

NetworkSpec dvs_net(const ZooOptions& options) {
  const Parts with(options);
  return with.chain({
      with.conv(128), with.conv(256), kPool,  //
      with.conv(512), kPool,                  //
      with.conv(1024), with.conv(512),        //
      with.dense(1024), with.dense(512),      //
  });
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
