// SPDX-License-Identifier: MIT
// The functions of kaiseki-arrays for operations: their table, and running one of them. The other
// functions are in tensor.cc and call.cc of the folder above.
#include "wasm/bindings/call.h"

#include <cstring>

#include "wasm/bindings/arrays/operation.h"

namespace kaiseki::wasm {
namespace {

std::vector<ArrayOperation> make_table() {
  std::vector<ArrayOperation> all;
  add_create_operations({"create", all});
  add_arrange_operations({"arrange", all});
  add_elementwise_operations({"elementwise", all});
  add_reduce_operations({"reduce", all});
  add_product_operations({"product", all});
  add_cluster_operations({"cluster", all});
  add_linalg_operations({"linalg", all});
  add_network_operations({"network", all});
  add_file_operations({"file", all});
  return all;
}

const std::vector<ArrayOperation>& table() {
  static const std::vector<ArrayOperation> all = make_table();
  return all;
}

}  // namespace

void ArrayOperation::refuse(size_t index, std::string_view expected, const Value& value) const {
  // The signature is "name(a, b = [1, 2])", and a default may contain commas.
  size_t from = signature.find('(') + 1;
  int depth = 0;
  for (size_t at = from; index > 0; ++at) {
    depth += (signature[at] == '[') - (signature[at] == ']');
    if (signature[at] != ',' || depth > 0) continue;
    from = at + 2;
    --index;
  }
  const std::string_view parameter =
      signature.substr(from, signature.find_first_of(" ,)", from) - from);
  throw Error(
      message(name(), "expected ", parameter, " as ", expected, ", got ", describe_value(value)));
}

/// Returns a JSON list of all operations, in the order of their numbers.
KAISEKI_EXPORT const std::byte* kaiseki_arrays_table() {
  return guarded([&] {
    Json all = Json::array();
    for (const ArrayOperation& operation : table()) {
      Json types = Json::array();
      for (std::string_view type : operation.types) types.items.emplace_back(std::string(type));
      Json one = Json::object();
      one.set("signature", std::string(operation.signature))
          .set("group", std::string(operation.group))
          .set("about", std::string(operation.about))
          .set("types", types)
          .set("result", operation.result);
      all.items.push_back(std::move(one));
    }
    return return_text(format_json_line(all));
  });
}

/// Runs an operation. There is one argument for each parameter. Returns the words of the result.
KAISEKI_EXPORT const std::byte* kaiseki_arrays_run(int number, const double* arguments, int count) {
  return guarded([&] {
    const ArrayOperation& operation = table()[static_cast<size_t>(number)];
    Words words;
    operation.run(operation, read_values(arguments, count), words);
    ByteVector bytes(words.all().size() * sizeof(double));
    if (!bytes.empty()) std::memcpy(bytes.data(), words.all().data(), bytes.size());
    return return_bytes(std::move(bytes));
  });
}

KAISEKI_EXPORT void kaiseki_generator_delete(Random* random) { release(random); }

}  // namespace kaiseki::wasm
