// SPDX-License-Identifier: MIT
#include "nn/sukiyaki2_weights.h"

#include <algorithm>
#include <bit>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "nn/graph.h"

namespace kaiseki::nn {
namespace {

constexpr size_t kMaxHeader = size_t{1} << 24;

struct Entry {
  std::string key;
  uint64_t offset = 0, size = 0;  // in bytes, from the beginning of the file
};

ByteView header_of(ByteView bytes) {
  const ByteView most = bytes.first(std::min(bytes.size(), kMaxHeader));
  const auto end = std::ranges::find(most, std::byte{0});
  return end == most.end() ? ByteView() : most.first(static_cast<size_t>(end - most.begin()));
}

/// Returns the entries in the order of the file.
std::vector<Entry> entries_of(ByteView bytes, const std::string& source) {
  const ByteView header = header_of(bytes);
  const Json list = parse_json(as_text(header), source);
  std::vector<Entry> entries;
  for (size_t i = 0; i < list.keys.size(); ++i) {
    const std::string place = "header: \"" + list.keys[i].substr(0, 64) + "\"";
    const auto number = [&](const char* key) {
      const Json* value = list.items[i].find(key);
      if (!value || !value->is_integer() || value->number < 0 ||
          value->number > static_cast<double>(bytes.size()))
        throw ParseError(source, place,
                         "expected the " + std::string(key) + " in the file, got " +
                             (value ? value->describe() : "nothing"));
      return static_cast<uint64_t>(value->number);
    };
    entries.push_back({list.keys[i], number("offset"), number("size")});
    if (entries.back().size % sizeof(float) != 0)
      throw ParseError(
          source, place,
          text_from("expected whole float32 values, got ", entries.back().size, " bytes"));
  }
  std::ranges::stable_sort(entries, {}, &Entry::offset);
  uint64_t end = header.size() + 1;
  for (const Entry& entry : entries) {
    if (entry.offset < end || entry.size > bytes.size() - entry.offset)
      throw ParseError(source, "header: \"" + entry.key.substr(0, 64) + "\"",
                       text_from("expected values from byte ", end, " to ", bytes.size(),
                                 ", got offset ", entry.offset, " and size ", entry.size));
    end = entry.offset + entry.size;
  }
  return entries;
}

/// "layer/gamma" is "layer.weight" here.
std::string our_name(const std::string& key) {
  const size_t slash = key.rfind('/');
  if (slash == key.npos) return key;
  std::string parameter = key.substr(slash + 1);
  if (parameter == "gamma") parameter = "weight";
  if (parameter == "beta") parameter = "bias";
  return key.substr(0, slash) + "." + parameter;
}

/// The shape of a parameter, and the height and width of the planes in it.
struct Layout {
  Shape shape;
  int64_t height = 1, width = 1;
};

std::map<std::string, Layout> layouts_of(const Network& network) {
  std::map<std::string, Layout> layouts;
  const Graph graph = build_graph(network.spec());
  for (const GraphNode& node : graph.nodes)
    for (const LayerShape::ParameterSpec& parameter : node.shape.parameters) {
      Layout layout{.shape = parameter.shape};
      const Shape& input = graph.shape_of(node.inputs[0]);
      const bool linear = node.type == "fully_connected" && parameter.name == "weight";
      const Shape& planes = linear ? input : parameter.shape;
      if (planes.rank() >= 3) {
        layout.height = planes[planes.rank() - 2];
        layout.width = planes[planes.rank() - 1];
      }
      layouts[node.name + "." + parameter.name] = layout;
    }
  return layouts;
}

/// Reads planes whose rows are the fastest. Ours have the columns as the fastest.
std::vector<float> read_planes(ByteView bytes, int64_t height, int64_t width) {
  std::vector<float> values(bytes.size() / sizeof(float));
  const auto h = static_cast<size_t>(height), w = static_cast<size_t>(width), plane = h * w;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t from = i / plane * plane + i % w * h + i % plane / w;
    values[i] = std::bit_cast<float>(load_le<uint32_t>(bytes.data() + from * sizeof(float)));
  }
  return values;
}

}  // namespace

bool is_sukiyaki2_weights(ByteView bytes) {
  return !bytes.empty() && bytes[0] == std::byte{'{'} && !header_of(bytes).empty();
}

std::vector<NamedTensor> read_sukiyaki2_weights(ByteView bytes, const Network& network,
                                                const std::string& source) {
  const std::map<std::string, Layout> layouts = layouts_of(network);
  std::vector<NamedTensor> tensors;
  for (const Entry& entry : entries_of(bytes, source)) {
    const std::string name = our_name(entry.key);
    const auto count = static_cast<int64_t>(entry.size / sizeof(float));
    Layout layout{.shape = {count}};
    if (const auto found = layouts.find(name);
        found != layouts.end() && found->second.shape.elements() == count)
      layout = found->second;
    const std::vector<float> values =
        read_planes(bytes.subspan(entry.offset, entry.size), layout.height, layout.width);
    tensors.push_back(
        {name, Tensor::from(std::span<const float>(values), layout.shape, Device::cpu())});
  }
  if (tensors.empty()) throw ParseError(source, "header", "expected weights, got none");
  return tensors;
}

}  // namespace kaiseki::nn
