// SPDX-License-Identifier: MIT
#include "ml/model_selection/cross_val_score.h"

#include "base/error.h"
#include "matrix/ops/index.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kName = "cross_val_score";

}  // namespace

std::vector<SplitIndices> cross_val_folds(const Tensor& y, const CrossValOptions& options) {
  require(y.defined() && y.rank() > 0, kName, "expected y of shape [n] or [n, outputs], got ",
          y.shape());
  if (options.folds.empty()) {
    const KFoldOptions folds{options.n_splits, options.shuffle, options.seed};
    return y.dtype() == DType::i32 ? StratifiedKFold(folds).split(y) : KFold(folds).split(y.dim(0));
  }
  for (const SplitIndices& fold : options.folds)
    require(fold.train.defined() && fold.test.defined() && fold.train.size() > 0 &&
                fold.test.size() > 0,
            kName, "expected folds with samples for training and for the test");
  return options.folds;
}

TrainTestParts fold_parts(const Tensor& x, const Tensor& y, const SplitIndices& fold) {
  require(x.defined() && x.rank() > 0 && x.dim(0) == y.dim(0), kName,
          "expected x and y with the same number of samples, got ", x.shape(), " and ", y.shape());
  const auto rows = [](const Tensor& t, const Tensor& indices) {
    return take(t, indices.to(t.device()), 0);
  };
  return {rows(x, fold.train), rows(x, fold.test), rows(y, fold.train), rows(y, fold.test)};
}

}  // namespace kaiseki::ml
