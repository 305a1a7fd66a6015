// SPDX-License-Identifier: MIT
#include "nn/weights.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "matrix/memory/idle_tensors.h"
#include "matrix/ops/copy.h"
#include "nn/io/gzip.h"
#include "nn/io/safetensors.h"
#include "nn/io/tar.h"
#include "nn/io/tar_tensors.h"
#include "nn/io/tensor_list.h"
#include "nn/onnx/onnx.h"
#include "nn/parse_network.h"
#include "nn/sukiyaki2_weights.h"
#include "nn/sukiyaki_values.h"
#include "nn/sukiyaki_weights.h"

namespace kaiseki::nn {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxUnpacked = uint64_t{1} << 36;  // of a compressed file

std::vector<NamedTensor> tensors_of(Network& network) {
  std::vector<NamedTensor> tensors;
  for (const Parameter& parameter : network.parameters())
    tensors.push_back({parameter.name, parameter.value});
  for (const State& state : network.states()) tensors.push_back({state.name, state.value});
  return tensors;
}

/// Returns the weights in a network file. Each tensor has one dimension: the file has no shapes.
std::vector<NamedTensor> tensors_in_network(ByteView bytes, const std::string& source,
                                            Metadata* metadata) {
  const std::string_view text = as_text(bytes);
  std::vector<NamedTensor> tensors;
  const NetworkSpec spec = parse_network(text, source);
  if (metadata) *metadata = spec.metadata;
  for (const LayerSpec& layer : spec.layers)
    for (const InlineWeights& weights : layer.weights)
      tensors.push_back(
          {layer.name + "." + weights.parameter,
           Tensor::from(std::span<const float>(weights.values),
                        {static_cast<int64_t>(weights.values.size())}, Device::cpu())});
  if (tensors.empty()) throw ParseError(source, "layer_status", "expected weights, got none");
  return tensors;
}

/// The file begins with the length of its header. In a text file, the first eight bytes read as a
/// length beyond the file's end.
bool is_safetensors(ByteView bytes) {
  return bytes.size() > 8 && bytes[8] == std::byte{'{'} &&
         load_le<uint64_t>(bytes.data()) <= bytes.size() - 8;
}

bool is_tar(ByteView bytes) {
  return begins_as_tar(*maybe_gzip(std::make_unique<MemorySource>(bytes), kMaxUnpacked));
}

enum class Format { safetensors, network, tar, sukiyaki2 };

/// Recognizes the format by the content. Throws ParseError if it is none of these.
Format format_of(ByteView bytes, const std::string& source) {
  if (is_safetensors(bytes)) return Format::safetensors;
  if (is_sukiyaki2_weights(bytes)) return Format::sukiyaki2;
  if (begins_as_json(as_text(bytes)) || is_onnx(bytes, source)) return Format::network;
  if (is_tar(bytes)) return Format::tar;
  throw ParseError(
      source, "byte 0",
      "the format is unknown: expected weights as safetensors, JSON, ONNX, tar or tar.gz");
}

std::vector<NamedTensor> read_tensors(ByteView bytes, const std::string& source,
                                      const Network& network, bool& flat, Metadata* metadata) {
  const Format format = format_of(bytes, source);
  flat = format == Format::network;
  if (flat) return tensors_in_network(bytes, source, metadata);
  if (format == Format::sukiyaki2) return read_sukiyaki2_weights(bytes, network, source);
  if (format == Format::tar) return read_tar_tensors(bytes, metadata, source);
  MemorySource contents(bytes, source);
  return read_safetensors(contents, metadata);
}

/// Reshapes the values of a network file. The file has no shapes. A bias may have a value for each
/// channel or for each position.
Tensor reshape_to_fit(const Tensor& found, const Shape& wanted, bool flat) {
  if (!flat || found.shape() == wanted) return found;
  if (found.size() == wanted.elements()) return found.reshape(wanted);
  std::vector<float> values = found.to_vector<float>();
  if (wanted.rank() == 1 && bias_per_channel(values, static_cast<size_t>(wanted[0])))
    return Tensor::from(std::span<const float>(values), wanted, Device::cpu());
  if (wanted.rank() == 3 && found.size() == wanted[0])
    return found.reshape({wanted[0], 1, 1}).broadcast_to(wanted).contiguous();
  return found;
}

/// Sukiyaki's layers always have a bias. A layer without a bias is stored with zeros.
bool is_zero_bias(const std::string& name, const Tensor& value) {
  const std::vector<float> values = value.to_vector<float>();
  return name.ends_with(".bias") &&
         std::all_of(values.begin(), values.end(), [](float x) { return x == 0; });
}

/// PyTorch's readers require this key.
Metadata with_format(Metadata metadata) {
  metadata.emplace("format", "pt");
  return metadata;
}

void list(std::string& into, const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  into += std::to_string(names.size()) + " " + what + ":";
  for (size_t i = 0; i < std::min<size_t>(names.size(), 8); ++i) into += " " + names[i];
  into += names.size() > 8 ? " ...\n" : "\n";
}

LoadReport assign_weights(std::vector<NamedTensor> tensors, bool flat, const std::string& source,
                          Network& network, bool strict) {
  std::map<std::string, Tensor> found;
  for (NamedTensor& tensor : tensors)
    found.emplace(std::move(tensor.name), std::move(tensor.value));
  LoadReport report;
  std::vector<std::pair<Tensor, Tensor>> copies;
  for (NamedTensor& wanted : tensors_of(network)) {
    auto at = found.find(wanted.name);
    if (at == found.end()) {
      report.missing.push_back(wanted.name);
      continue;
    }
    const Tensor value = reshape_to_fit(at->second, wanted.value.shape(), flat);
    found.erase(at);
    if (value.shape() != wanted.value.shape() || value.dtype() != wanted.value.dtype()) {
      report.mismatched.push_back({wanted.name, wanted.value.shape(), value.shape()});
      continue;
    }
    copies.emplace_back(value, wanted.value);
    report.matched.push_back(wanted.name);
  }
  for (const auto& [name, value] : found)
    if (!flat || !is_zero_bias(name, value)) report.unexpected.push_back(name);
  if (strict && !report.complete())
    throw Error(source + ": the tensors are not those of this network\n" + report.str());
  IdleTensors idle(Device::cpu());
  for (auto& [from, to] : copies) idle.add(from);
  for (auto& [from, to] : copies) copy_into(to, from);
  return report;
}

}  // namespace

std::string LoadReport::str() const {
  std::string text = std::to_string(matched.size()) + " tensors loaded\n";
  list(text, "missing in the file, not changed", missing);
  list(text, "in the file only", unexpected);
  for (const Mismatch& m : mismatched)
    text += m.name + ": expected shape " + m.expected.str() + ", got " + m.found.str() + "\n";
  return text;
}

std::vector<NamedTensor> weights_to_save(Network& network) {
  IdleTensors idle(network.device());
  network.add_weights(idle);
  for (const Parameter& parameter : network.parameters()) {
    const float* values = parameter.value.data<float>();
    for (int64_t i = 0; i < parameter.value.size(); ++i)
      if (!std::isfinite(values[i]))
        throw Error(message("save", "expected finite weights, got ", values[i], " in ",
                            parameter.name, "[", i, "]"));
  }
  return tensors_of(network);
}

void check_storable_names(Network& network, const Metadata& metadata) {
  std::vector<ListedTensor> listed;
  for (const NamedTensor& tensor : tensors_of(network))
    listed.push_back({tensor.name, tensor.value.dtype(), tensor.value.shape()});
  format_tensor_list(listed, false, metadata);
}

void save_weights(const std::string& file, Network& network, const Metadata& metadata) {
  IdleTensors idle(network.device());
  network.add_weights(idle);
  const std::string suffix = fs::path(file).extension().string();
  const std::vector<NamedTensor> tensors = weights_to_save(network);
  if (suffix == ".safetensors")
    write_safetensors(file, tensors, with_format(metadata));
  else if (suffix == ".tar")
    write_tar_tensors(file, tensors, metadata);
  else if (suffix == ".json")
    write_file_atomic(file, as_bytes(to_sukiyaki(network)));
  else if (suffix == ".onnx")
    write_onnx(file, network, metadata);
  else
    throw Error(
        message("save_weights", "expected a file .safetensors, .json, .tar or .onnx, got ", file));
}

ByteVector encode_weights(std::string_view format, Network& network, const Metadata& metadata) {
  IdleTensors idle(network.device());
  network.add_weights(idle);
  const std::vector<NamedTensor> tensors = weights_to_save(network);
  if (format == "safetensors") return encode_safetensors(tensors, with_format(metadata));
  if (format == "tar") return encode_tar_tensors(tensors, metadata);
  if (format != "json")
    throw Error(message("encode_weights", "expected safetensors, json or tar, got '", format, "'"));
  const std::string text = to_sukiyaki(network);
  const ByteView bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

LoadReport load_weights(const std::string& file, Network& network, bool strict,
                        Metadata* metadata) {
  IdleTensors idle(network.device());
  network.add_weights(idle);
  bool flat = false;
  std::vector<NamedTensor> tensors = read_tensors(read_file(file), file, network, flat, metadata);
  return assign_weights(std::move(tensors), flat, file, network, strict);
}

LoadReport load_weights(ByteView bytes, Network& network, bool strict, Metadata* metadata) {
  IdleTensors idle(network.device());
  network.add_weights(idle);
  bool flat = false;
  std::vector<NamedTensor> tensors = read_tensors(bytes, "memory", network, flat, metadata);
  return assign_weights(std::move(tensors), flat, "memory", network, strict);
}

}  // namespace kaiseki::nn
