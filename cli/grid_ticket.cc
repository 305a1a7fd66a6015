// SPDX-License-Identifier: MIT
#include "cli/grid_ticket.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/sha256.h"
#include "cli/grid_search.h"
#include "dist/net/json_fields.h"
#include "dist/wire/tensors.h"
#include "ml/model/registry.h"
#include "ml/progress.h"

namespace kaiseki::cli {
namespace {

constexpr int64_t kMostFolds = 1000;
constexpr double kRoom = 64 << 20;  // bytes for the ticket and the fixed needs of each fit
constexpr double kCopies = 10;      // of the samples: the blob, its parts, and those of a fit

ByteVector bytes_of(const Json& value) {
  const std::string text = format_json_line(value);
  const ByteView bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

Json object_of(ByteView bytes, const char* what) {
  Json json = parse_json(as_text(bytes), what);
  require(json.is(Json::Kind::object), what, "expected an object, got ", json.describe());
  return json;
}

double number_of(const Json& settings, std::string_view name) {
  const Json* value = settings.find(name);
  return value && value->is(Json::Kind::number) ? std::max(0.0, value->number) : 0;
}

/// Classes, or the outputs of a regression.
double outputs_of(const Tensor& y) {
  if (y.dtype() != DType::i32) return y.rank() == 2 ? static_cast<double>(y.dim(1)) : 1;
  const int32_t* labels = y.data<int32_t>();
  return static_cast<double>(std::set<int32_t>(labels, labels + y.size()).size());
}

/// Computes tickets. Several threads call it at once.
class FitNode {
 public:
  explicit FitNode(Device device) : device_(device) {}

  ByteVector run(ByteView input, const dist::TicketContext& context) {
    const GridTicket ticket = decode_grid_ticket(input);
    const std::lock_guard lock(mutex_);
    const auto stop_if_cancelled = [&] {
      if (context.cancelled()) throw Error("cancelled");
    };
    stop_if_cancelled();
    prepare(ticket, context);
    const ml::ProgressScope scope([&](std::string_view, int64_t, int64_t) { stop_if_cancelled(); });
    return encode_score(scorer_->score(ticket.model, ticket.settings, ticket.fold));
  }

 private:
  void prepare(const GridTicket& ticket, const dist::TicketContext& context) {
    if (hash_ != ticket.data) {
      hash_.clear();
      scorer_.reset();
      samples_ = {};
      samples_ = decode_grid_samples(context.fetch(ticket.data));
      hash_ = ticket.data;
    }
    const auto task = ml::make_model(ticket.model, ticket.settings)->task();
    const bool labels = samples_.y.dtype() == DType::i32;
    require(task == (labels ? ml::LearningTask::classification : ml::LearningTask::regression),
            "fit", "expected a ", labels ? "classification" : "regression",
            " for the targets, got ", ticket.model);
    const uint64_t needed = memory_for_fit(ticket.model, ticket.settings, samples_);
    require(needed <= context.memory_bytes, "fit", "expected a fit that needs at most ",
            format_bytes(context.memory_bytes), ", got about ", format_bytes(needed));
    if (scorer_ && folds_ == ticket.folds && scale_ == ticket.scale) return;
    scorer_.reset();
    scorer_.emplace(GridData{samples_.x.to(device_), samples_.y, ticket.scale, ticket.folds});
    folds_ = ticket.folds;
    scale_ = ticket.scale;
  }

  const Device device_;
  std::mutex mutex_;
  dist::BlobHash hash_;  // of `samples_`
  GridSamples samples_;
  std::optional<GridScorer> scorer_;  // of the samples with `folds_` and `scale_`
  int64_t folds_ = 0;
  bool scale_ = false;
};

}  // namespace

ByteVector encode_grid_ticket(const GridTicket& ticket) {
  Json json = Json::object();
  json.set("data", ticket.data).set("model", ticket.model).set("settings", ticket.settings);
  json.set("fold", ticket.fold).set("folds", ticket.folds).set("scale", ticket.scale);
  return bytes_of(json);
}

GridTicket decode_grid_ticket(ByteView bytes) {
  const Json json = object_of(bytes, "fit");
  GridTicket ticket;
  ticket.data = dist::text_of(json, "data");
  require(is_sha256(ticket.data), "fit", "expected a SHA-256 as data");
  ticket.model = dist::text_of(json, "model");
  const Json* settings = json.find("settings");
  require(settings && settings->is(Json::Kind::object), "fit", "expected an object as settings");
  ticket.settings = *settings;
  ticket.fold = dist::integer_of(json, "fold");
  ticket.folds = dist::integer_of(json, "folds");
  require(ticket.folds >= 2 && ticket.folds <= kMostFolds, "fit", "expected 2 to ", kMostFolds,
          " folds, got ", ticket.folds);
  require(ticket.fold >= 0 && ticket.fold < ticket.folds, "fit", "expected a fold from 0 to ",
          ticket.folds - 1, ", got ", ticket.fold);
  const Json* scale = json.find("scale");
  require(scale && scale->is(Json::Kind::boolean), "fit", "expected true or false as scale");
  ticket.scale = scale->boolean;
  return ticket;
}

ByteVector encode_grid_samples(const GridSamples& samples) {
  const auto type = samples.y.dtype() == DType::i32 ? dist::WireType::i32 : dist::WireType::f32;
  const std::vector<dist::WireTensor> tensors{{"x", samples.x}, {"y", samples.y, type}};
  return dist::encode_tensors(tensors);
}

GridSamples decode_grid_samples(ByteView bytes) {
  const dist::TensorMessage message = dist::decode_tensors(bytes, "samples");
  const auto& tensors = message.tensors;
  require(tensors.size() == 2 && tensors[0].name == "x" && tensors[1].name == "y", "fit",
          "expected the tensors x and y");
  const Tensor &x = tensors[0].value, &y = tensors[1].value;
  require(x.dtype() == DType::f32 && x.rank() == 2, "fit", "expected x as f32 [n, features], got ",
          x.shape());
  const bool is_right = y.dtype() == DType::i32
                            ? y.rank() == 1
                            : y.dtype() == DType::f32 && (y.rank() == 1 || y.rank() == 2);
  require(is_right && y.dim(0) == x.dim(0), "fit",
          "expected y as i32 [n], f32 [n] or f32 [n, outputs] for x of ", x.shape(), ", got ",
          y.shape());
  return {x, y};
}

ByteVector encode_score(double score) {
  Json json = Json::object();
  return bytes_of(json.set("score", std::isfinite(score) ? Json(score) : Json()));
}

double decode_score(ByteView bytes) {
  const Json json = parse_json(as_text(bytes), "score");
  const Json* score = json.find("score");
  if (score && score->is(Json::Kind::null)) return std::nan("");
  if (!score || !score->is(Json::Kind::number))
    throw ParseError("score", "score", "expected a number or null");
  return score->number;
}

uint64_t memory_for_fit(const std::string& model, const Json& given, const GridSamples& samples) {
  constexpr double kNode = 12, kPair = 64;      // bytes
  constexpr double kSplits = 2;                 // nodes of a tree for each sample
  constexpr double kDescent = 32, kSystem = 4;  // copies: of L-BFGS, of a Gram matrix
  const Json settings = ml::make_model(model, given)->settings();
  const auto rows = static_cast<double>(samples.x.dim(0));
  const auto features = static_cast<double>(samples.x.dim(1));
  const double outputs = outputs_of(samples.y);
  double bytes = kRoom + kCopies * sizeof(float) * rows * (features + 1);
  if (settings.find("max_depth")) {
    bytes += std::max(1.0, number_of(settings, "n_estimators")) * kSplits * rows *
             (kNode + sizeof(float) * outputs);
  } else if (settings.find("cache_size")) {
    bytes += std::min(number_of(settings, "cache_size") * (1 << 20), sizeof(float) * rows * rows);
    bytes += outputs * outputs / 2 * (kPair + sizeof(float) * rows);
  } else {
    const double system = std::min(rows, features);
    bytes += sizeof(double) * (kDescent * outputs * features + kSystem * system * system);
  }
  return bytes < 1e18 ? static_cast<uint64_t>(bytes) : UINT64_MAX;
}

dist::NodeFunction fit_function(Device device) {
  return [node = std::make_shared<FitNode>(device)](ByteView input,
                                                    const dist::TicketContext& context) {
    if (!input.empty()) return node->run(input, context);
    require(context.blobs.size() == 1, "fit", "expected a ticket, or one blob with it, got ",
            context.blobs.size(), " blobs");
    return node->run(context.fetch(context.blobs[0]), context);
  };
}

}  // namespace kaiseki::cli
