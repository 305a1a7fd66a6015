// SPDX-License-Identifier: MIT
// Compares arrays with NumPy's results, which tests/reference/make_array_cases.py wrote.
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "matrix/ops/arrange.h"
#include "matrix/ops/convolve.h"
#include "matrix/ops/create.h"
#include "matrix/ops/cumulative.h"
#include "matrix/ops/einsum.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/index.h"
#include "matrix/ops/sort.h"
#include "matrix/ops/statistics.h"
#include "tests/support/devices.h"
#include "tests/support/slow.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;

namespace {

using Words = std::vector<std::string>;

Words split_text(const std::string& text, char separator) {
  Words words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) words.push_back(word);
  return words;
}

std::vector<int64_t> numbers_of(const std::string& text) {
  std::vector<int64_t> values;
  for (const std::string& word : split_text(text, ',')) values.push_back(std::stoll(word));
  return values;
}

Shape shape_of(const std::string& text) {
  return Shape(std::span<const int64_t>(numbers_of(text)));
}

/// One line of the file.
struct ArrayCase {
  std::string operation, result;
  Words inputs;
  std::map<std::string, std::string> parameters;

  int64_t number(const std::string& name) const {
    const auto found = parameters.find(name);
    return found == parameters.end() ? 0 : std::stoll(found->second);
  }
  int axis() const { return static_cast<int>(number("axis")); }
  bool has(const std::string& name) const { return parameters.contains(name); }
  Axes axes(const std::string& name = "a") const {
    const std::vector<int64_t> all = numbers_of(parameters.at(name));
    return Axes(all.begin(), all.end());
  }
  bool keep() const { return number("k") != 0; }
};

ArrayCase parse_case(const std::string& line) {
  ArrayCase result;
  const size_t arrow = line.find(" > ");
  result.result = line.substr(arrow + 3);
  for (const std::string& word : split_text(line.substr(0, arrow), ' ')) {
    const size_t equal = word.find('=');
    if (result.operation.empty())
      result.operation = word;
    else if (equal != std::string::npos)
      result.parameters[word.substr(0, equal)] = word.substr(equal + 1);
    else
      result.inputs.push_back(word);
  }
  return result;
}

/// The formula of make() in the script, for element i of an input.
class Formula {
 public:
  Formula(std::string dtype, std::string kind, size_t place)
      : dtype_(std::move(dtype)), kind_(std::move(kind)), place_(place) {}

  double operator()(int64_t i) const {
    uint32_t h =
        static_cast<uint32_t>(i) * 2654435761u + static_cast<uint32_t>(place_ + 1) * 0x9E3779B9u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    const bool number = dtype_ == "f32" || dtype_ == "i32";
    if (dtype_ == "bool") return (h >> 3) % 2;
    if (kind_[0] == 'k') return h % (2 * limit()) - static_cast<double>(limit());
    if (kind_[0] == 'c') return h % limit();
    if (kind_ == "s") return number ? h % 7 - 3.0 : h % 4;
    if (kind_ == "u") return (h % 2001 - 1000.0) / 1000;
    if (dtype_ == "u8") return h % 256;
    if (dtype_ == "f32") {
      if (kind_ != "x" || h % 5) return (h % 2001 - 1000.0) / 8;
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      const double special[] = {std::nan(""), kInfinity, -kInfinity, -0.0, 0.0};
      return special[(h >> 8) % 5];
    }
    if (kind_ != "x") return h % 2001 - 1000.0;
    constexpr double kExtremes[] = {-0x1p31, 0x1p31 - 1, -1, 0};
    return h % 3 ? h - 0x1p31 : kExtremes[(h >> 8) % 4];
  }

 private:
  uint32_t limit() const { return static_cast<uint32_t>(std::stoul(kind_.substr(1))); }
  std::string dtype_, kind_;
  size_t place_;
};

template <typename T>
Tensor filled(const Shape& shape, const Formula& formula, Device device) {
  Tensor result(shape, DTypeOf<T>::value, device);
  T* out = result.overwrite<T>();
  for (int64_t i = 0; i < result.size(); ++i) out[i] = static_cast<T>(formula(i));
  return result;
}

Tensor make_input(const std::string& text, size_t place, Device device) {
  const Words parts = split_text(text, ':');
  const Shape shape = shape_of(parts[1]);
  const Formula formula(parts[0], parts[2], place);
  if (parts[0] == "f32") return filled<float>(shape, formula, device);
  if (parts[0] == "i32") return filled<int32_t>(shape, formula, device);
  if (parts[0] == "u8") return filled<uint8_t>(shape, formula, device);
  return filled<bool>(shape, formula, device);
}

std::vector<AxisIndex> parse_slices(const std::string& text) {
  std::vector<AxisIndex> indices;
  for (const std::string& word : split_text(text, ';')) {
    if (word == "n") {
      indices.emplace_back(NewAxis);
    } else if (word.find(':') == std::string::npos) {
      indices.emplace_back(std::stoll(word));
    } else {
      Words parts = split_text(word, ':');
      parts.resize(3);
      auto position = [](const std::string& part) {
        return part.empty() ? std::optional<int64_t>() : std::stoll(part);
      };
      indices.emplace_back(Slice(position(parts[0]), position(parts[1]),
                                 parts[2].empty() ? 1 : std::stoll(parts[2])));
    }
  }
  return indices;
}

DType type_of(const std::string& name) {
  if (name == "f32") return DType::f32;
  if (name == "i32") return DType::i32;
  return name == "u8" ? DType::u8 : DType::boolean;
}

/// The result of a case.
using Compute = std::function<Tensor(const ArrayCase&, std::vector<Tensor>&)>;

template <class Change>
Compute changed(Change change) {
  return [change](const ArrayCase& c, std::vector<Tensor>& in) {
    change(c, in);
    return in[0];
  };
}

void add_index_operations(std::map<std::string, Compute>& all) {
  using Case = const ArrayCase&;
  using In = std::vector<Tensor>&;
  all["slice"] = [](Case c, In in) { return in[0].index(parse_slices(c.parameters.at("s"))); };
  all["take"] = [](Case c, In in) { return take(in[0], in[1], c.axis()); };
  all["gather"] = [](Case c, In in) { return gather(in[0], in[1], c.axis()); };
  all["put"] = changed([](Case c, In in) { put(in[0], in[1], in[2], c.axis()); });
  all["add_at"] = changed([](Case c, In in) { add_at(in[0], in[1], in[2], c.axis()); });
  all["scatter"] = changed([](Case c, In in) { scatter(in[0], in[1], in[2], c.axis()); });
  all["scatter_add"] = changed([](Case c, In in) { scatter_add(in[0], in[1], in[2], c.axis()); });
  all["masked_put"] = changed([](Case, In in) { masked_put(in[0], in[1], in[2]); });
  all["masked_select"] = [](Case, In in) { return masked_select(in[0], in[1]); };
  all["nonzero"] = [](Case, In in) { return nonzero(in[0]); };
}

void add_reductions(std::map<std::string, Compute>& all) {
  using Case = const ArrayCase&;
  using In = std::vector<Tensor>&;
  struct NamedReduction {
    const char* name;
    Tensor (*function)(const Tensor&, const Axes&, bool);
  };
  constexpr NamedReduction kReductions[] = {
      {"sum", sum},   {"prod", prod},     {"max", max},
      {"min", min},   {"any", any},       {"all", kaiseki::all},
      {"mean", mean}, {"median", median}, {"logsumexp", logsumexp}};
  for (const NamedReduction& reduction : kReductions)
    all[reduction.name] = [function = reduction.function](Case c, In in) {
      return function(in[0], c.axes(), c.keep());
    };
  all["var"] = [](Case c, In in) { return var(in[0], c.axes(), c.number("d"), c.keep()); };
  all["stddev"] = [](Case c, In in) { return stddev(in[0], c.axes(), 0, c.keep()); };
  all["quantile"] = [](Case c, In in) {
    return quantile(in[0], std::stod(c.parameters.at("q")), c.axes(), c.keep());
  };
  all["vector_norm"] = [](Case c, In in) {
    return vector_norm(in[0], std::stod(c.parameters.at("p")), c.axes(), c.keep());
  };
  all["argmax"] = [](Case c, In in) { return argmax(in[0], c.axis()); };
  all["argmin"] = [](Case c, In in) { return argmin(in[0], c.axis()); };
  all["argmax_all"] = [](Case, In in) { return argmax(in[0]); };
  all["argmin_all"] = [](Case, In in) { return argmin(in[0]); };
  struct NamedScan {
    const char* name;
    Tensor (*function)(const Tensor&, int);
  };
  constexpr NamedScan kScans[] = {
      {"cumsum", cumsum}, {"cumprod", cumprod}, {"cummax", cummax}, {"cummin", cummin}};
  for (const NamedScan& scan : kScans)
    all[scan.name] = [function = scan.function](Case c, In in) {
      return function(in[0], c.axis());
    };
  all["sort"] = [](Case c, In in) { return sort(in[0], c.axis(), c.number("d")); };
  all["argsort"] = [](Case c, In in) { return argsort(in[0], c.axis(), c.number("d")); };
  all["topk"] = [](Case c, In in) { return topk(in[0], c.number("d"), c.axis()).indices; };
  all["topk_smallest"] = [](Case c, In in) {
    return topk(in[0], c.number("d"), c.axis(), false).indices;
  };
  all["topk_values"] = [](Case c, In in) {
    return topk(in[0], c.number("d"), c.axis(), c.parameters.at("t") == "largest").values;
  };
  all["searchsorted"] = [](Case c, In in) {
    return searchsorted(sort(in[0]), in[1], c.number("d"));
  };
  all["unique"] = [](Case c, In in) {
    const Unique result = unique(in[0]);
    const Tensor parts[] = {result.values, result.first, result.inverse, result.counts};
    return parts[c.number("d")];
  };
  all["bincount"] = [](Case c, In in) { return bincount(in[0], c.number("d")); };
  all["histogram"] = [](Case c, In in) { return histogram(in[0], c.number("d"), -3, 3).counts; };
}

void add_arrangements(std::map<std::string, Compute>& all, Device device) {
  using Case = const ArrayCase&;
  using In = std::vector<Tensor>&;
  all["squeeze"] = [](Case, In in) { return squeeze(in[0]); };
  all["expand_dims"] = [](Case c, In in) { return expand_dims(in[0], c.axis()); };
  all["stack"] = [](Case c, In in) { return stack(in, c.axis()); };
  all["flip"] = [](Case c, In in) { return flip(in[0], c.axes()); };
  all["roll"] = [](Case c, In in) { return roll(in[0], c.number("d"), c.axis()); };
  all["repeat"] = [](Case c, In in) { return repeat(in[0], c.number("d"), c.axis()); };
  all["repeat_each"] = [](Case c, In in) { return repeat(in[0], in[1], c.axis()); };
  all["split"] = [](Case c, In in) {
    const int64_t position = c.number("d");
    return split(in[0], std::span(&position, 1), c.axis())[1];
  };
  all["moveaxis"] = [](Case c, In in) {
    return moveaxis(in[0], c.axis(), static_cast<int>(c.number("d")));
  };
  all["tile"] = [](Case c, In in) { return tile(in[0], shape_of(c.parameters.at("a"))); };
  all["diag"] = [](Case c, In in) { return diag(in[0], c.number("d")); };
  all["triu"] = [](Case c, In in) { return triu(in[0], c.number("d")); };
  all["tril"] = [](Case c, In in) { return tril(in[0], c.number("d")); };
  all["eye"] = [=](Case c, In) {
    const Axes a = c.axes();
    return eye(a[0], a[1], a[2], DType::f32, device);
  };
  all["tri"] = [=](Case c, In) {
    const Axes a = c.axes();
    return tri(a[0], a[1], a[2], device);
  };
  all["arange"] = [=](Case c, In) {
    const Axes a = c.axes();
    const bool is_float = c.parameters.at("t") == "f32";
    return arange(a[0], a[1], a[2], is_float ? DType::f32 : DType::i32, device);
  };
  all["linspace"] = [=](Case c, In) {
    const Axes a = c.axes();
    return linspace(-1, 2, a[0], a[1], device);
  };
  all["meshgrid"] = [](Case c, In in) {
    const bool xy = c.parameters.at("t") == "xy";
    return meshgrid(in, xy ? GridOrder::xy : GridOrder::ij)[static_cast<size_t>(c.number("d"))];
  };
  all["one_hot"] = [](Case c, In in) {
    return one_hot(in[0], c.number("d"), c.has("t") ? type_of(c.parameters.at("t")) : DType::f32);
  };
  all["convolve"] = [](Case c, In in) {
    return convolve(in[0], in[1], static_cast<ConvolveMode>(c.number("d")));
  };
  all["correlate"] = [](Case c, In in) {
    return correlate(in[0], in[1], static_cast<ConvolveMode>(c.number("d")));
  };
  all["einsum"] = [](Case c, In in) { return einsum(c.parameters.at("t"), in); };
  all["matmul"] = [](Case c, In in) {
    auto view = [&](const Tensor& x) {
      return x.index(
          std::vector<AxisIndex>(static_cast<size_t>(x.rank()), Slice({}, {}, c.number("d"))));
    };
    return matmul(view(in[0]), view(in[1]));
  };
  all["tensordot"] = [](Case c, In in) {
    if (c.has("b")) return tensordot(in[0], in[1], c.axes(), c.axes("b"));
    return tensordot(in[0], in[1], static_cast<int>(c.number("d")));
  };
}

/// The elements as the words that hashed() of the script uses. All NaNs are one, and -0 is 0.
std::vector<uint32_t> words_of(const Tensor& t) {
  std::vector<uint32_t> words;
  switch (t.dtype()) {
    case DType::f32:
      for (float v : t.to_vector<float>())
        words.push_back(std::isnan(v) ? 0x7FC00000u : std::bit_cast<uint32_t>(v + 0.0f));
      break;
    case DType::i32:
      for (int32_t v : t.to_vector<int32_t>()) words.push_back(static_cast<uint32_t>(v));
      break;
    case DType::u8:
      for (uint8_t v : t.to_vector<uint8_t>()) words.push_back(v);
      break;
    case DType::boolean:
      for (bool v : t.to_vector<bool>()) words.push_back(v);
      break;
    case DType::f64:
      FAIL("no case has a result of f64");
  }
  return words;
}

/// FNV-1a.
uint32_t hash_of_words(const auto& words) {
  uint64_t hash = 14695981039346656037u;
  for (uint32_t word : words) hash = (hash ^ word) * 1099511628211u;
  return static_cast<uint32_t>(hash >> 32);
}

std::string hash_of(const Tensor& t) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", hash_of_words(words_of(t)));
  return text;
}

std::string head_of(const Tensor& t) {
  std::string text(dtype_name(t.dtype()));
  text += ':';
  for (int i = 0; i < t.rank(); ++i) text += (i ? "," : "") + std::to_string(t.dim(i));
  return text;
}

bool is_expected(const Tensor& actual, const std::string& expected) {
  const std::string head = head_of(actual);
  if (!expected.starts_with(head)) return false;
  const std::string tail = expected.substr(head.size());
  if (tail[0] == ':') return tail.substr(1) == hash_of(actual);
  if (tail[0] != '~') return false;
  const std::vector<float> values = actual.to_vector();
  const Words words = split_text(tail.substr(1), ',');
  if (words.size() != values.size()) return false;
  double largest = 0;
  for (const std::string& word : words)
    if (std::isfinite(std::stod(word))) largest = std::max(largest, std::abs(std::stod(word)));
  for (size_t i = 0; i < values.size(); ++i) {
    const double wanted = std::stod(words[i]), value = static_cast<double>(values[i]);
    // Sums of up to 60 products in f32, and of larger ones that partly cancel.
    const bool same = std::isfinite(wanted)
                          ? std::abs(value - wanted) <= 1e-5 * std::abs(wanted) + 2e-6 * largest
                      : std::isnan(wanted) ? std::isnan(value)
                                           : value == wanted;
    if (!same) return false;
  }
  return true;
}

/// A case and its line of the file.
struct NamedCase {
  explicit NamedCase(const std::string& text) : line(text), parsed(parse_case(text)) {
    kind = parsed.operation;
    bool is_empty = false;
    for (const std::string& input : parsed.inputs) {
      const Words parts = split_text(input, ':');
      kind += ' ' + parts[0];
      is_empty = is_empty || shape_of(parts[1]).elements() == 0;
    }
    for (const auto& [name, value] : parsed.parameters)
      if (name != "a" && name != "b" && name != "axis" && name != "s")
        kind += ' ' + name + '=' + value;
    if (is_empty) kind += " without elements";
  }

  std::string line;
  ArrayCase parsed;
  std::string kind;  // operation, types and parameters; not shapes and axes
};

/// About this part of the cases, and at least one of each kind.
std::vector<const NamedCase*> select_part(const std::vector<NamedCase>& cases, uint32_t percent) {
  std::set<std::string> kinds;
  std::vector<const NamedCase*> part;
  for (const NamedCase& one : cases) {
    const bool is_first = kinds.insert(one.kind).second;
    if (is_first || hash_of_words(one.line) % 100 < percent) part.push_back(&one);
  }
  return part;
}

/// The problem of the result, or an empty text.
std::string problem_of(const std::map<std::string, Compute>& operations, const ArrayCase& c,
                       Device device) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) inputs.push_back(make_input(c.inputs[i], i, device));
  try {
    const Tensor result = operations.at(c.operation)(c, inputs);
    if (result.device() == device && is_expected(result, c.result)) return "";
    return head_of(result) + " " + hash_of(result);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("arrays: NumPy's results for thousands of cases") {
  std::ifstream file(test::source_dir() + "/tests/reference/array_cases.txt");
  std::vector<NamedCase> cases;
  std::set<std::string> kinds;
  for (std::string line; std::getline(file, line);) {
    cases.emplace_back(line);
    kinds.insert(cases.back().kind);
  }
  REQUIRE(cases.size() >= 13000);
  REQUIRE(kinds.size() >= 1000);
  test::for_each_device([&](Device device) {
    std::map<std::string, Compute> operations;
    add_index_operations(operations);
    add_reductions(operations);
    add_arrangements(operations, device);
    // Other devices build kernels for many cases. Sanitizers are slow.
    const uint32_t percent = (device.is_cpu() ? 100 : 40) / (KAISEKI_SLOW ? 3 : 1);
    const std::vector<const NamedCase*> part = select_part(cases, percent);
    CHECK(part.size() >= (KAISEKI_SLOW ? 2500 : 5500));
    std::set<std::string> compared;
    int wrong = 0;
    for (const NamedCase* one : part) {
      compared.insert(one->kind);
      const std::string problem = problem_of(operations, one->parsed, device);
      if (problem.empty()) continue;
      INFO(one->line << " -- got " << problem);
      if (++wrong <= 20) FAIL_CHECK("a result differs from NumPy's");
    }
    CHECK(wrong == 0);
    CHECK(compared == kinds);
  });
}
