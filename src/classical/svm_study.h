#pragma once

#include <functional>

#include "classical/methods.h"

namespace bntt {

using Extract = std::function<SparseFeatures(const Recording& recording)>;

/// The features of all recordings, in the order of the data set.
struct ExtractedFeatures {
  LabelledFeatures train;
  LabelledFeatures validation;
  std::vector<SparseFeatures> test;
};

ExtractedFeatures extract_all(const Extract& extract, RecordingStream& stream);

double mean_nonzero(const LabelledFeatures& data);

/// Fits the classifier and classifies the test recordings: fills all of `answers` that concerns it.
void classify_linearly(ExtractedFeatures features, int64_t count, const ClassicalConfig& config,
                       RecordingStream& stream, ClassicalAnswers& answers);

/// One picture per class: the mean over its training recordings of the features that `place` maps
/// to the same pixel.
std::vector<FeatureMap> class_maps(const LabelledFeatures& train, const RecordingStream& stream,
                                   const std::string& group, int64_t width, int64_t height,
                                   const std::function<int64_t(int64_t index)>& place);

/// One picture per filter.
std::vector<FeatureMap> filter_maps(const GaborBank& bank);

}  // namespace bntt
