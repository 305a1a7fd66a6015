// SPDX-License-Identifier: MIT
// The table of the array operations that JavaScript can call. One line adds an operation:
//
//   table.add("sum(x, axes = [], keep_dims = false)", "The sum over these axes.", sum);
//
// The types of arguments and result are those of the C++ function. Defaults are JSON, and
// JavaScript fills them in.
#pragma once

#include <functional>
#include <tuple>
#include <type_traits>

#include "base/error.h"
#include "base/json.h"
#include "wasm/bindings/arrays/argument.h"
#include "wasm/bindings/arrays/result.h"

namespace kaiseki::wasm {

/// "name(a, b = [1, 2])" for a function with `count` parameters. Another number of parameters does
/// not compile.
template <size_t count>
struct Signature {
  consteval Signature(const char* text) : text(text) {
    size_t commas = 0;
    int depth = 0;
    for (const char letter : this->text) {
      depth += (letter == '(' || letter == '[') - (letter == ')' || letter == ']');
      commas += letter == ',' && depth == 1;
    }
    if (commas + 1 != count) throw "expected a name for each parameter";
  }
  std::string_view text;
};

struct ArrayOperation {
  std::string_view signature, group, about;
  std::vector<std::string_view> types;
  Json result;
  std::function<void(const ArrayOperation&, const std::vector<Value>&, Words&)> run;

  std::string_view name() const { return signature.substr(0, signature.find('(')); }
  /// Throws Error for parameter number `index`.
  [[noreturn]] void refuse(size_t index, std::string_view expected, const Value& value) const;
};

/// The types of a function, a function pointer or a lambda without overloads.
template <class F>
struct FunctionTypes : FunctionTypes<decltype(&F::operator())> {};
template <class R, class... P>
struct FunctionTypes<R (*)(P...)> {
  using Result = R;
  using Parameters = std::tuple<P...>;
  static constexpr size_t count = sizeof...(P);
};
template <class C, class R, class... P>
struct FunctionTypes<R (C::*)(P...) const> : FunctionTypes<R (*)(P...)> {};

/// The operations of one source file. `group` is the file's name.
class OperationGroup {
 public:
  OperationGroup(std::string_view group, std::vector<ArrayOperation>& all)
      : group_(group), all_(all) {}

  template <class F, size_t count = FunctionTypes<F>::count>
  void add(std::type_identity_t<Signature<count>> signature, std::string_view about, F function) {
    add(signature.text, about, function, std::make_index_sequence<count>());
  }

 private:
  template <class F, size_t... index>
  void add(std::string_view signature, std::string_view about, F function,
           std::index_sequence<index...>) {
    using Parameters = typename FunctionTypes<F>::Parameters;
    using R = typename FunctionTypes<F>::Result;
    // A function that changes its first tensor and returns nothing gives the tensor.
    constexpr bool kChanges =
        std::is_void_v<R> && std::is_same_v<std::tuple_element_t<0, Parameters>, Tensor&>;
    ArrayOperation operation{signature, group_, about, {type_of<index, Parameters>()...}, {}, {}};
    operation.result = kChanges ? Json("this") : Result<R>::type();
    operation.run = [function](const ArrayOperation& self, const std::vector<Value>& values,
                               Words& words) {
      std::tuple<typename Argument<Plain<index, Parameters>>::Held...> held{
          read<index, Parameters>(self, values)...};
      auto call = [&] { return function(pass<index, Parameters>(std::get<index>(held))...); };
      if constexpr (std::is_void_v<R>)
        call();
      else
        Result<R>::write(words, call());
    };
    all_.push_back(std::move(operation));
  }

  template <size_t index, class Parameters>
  using Plain = std::remove_cvref_t<std::tuple_element_t<index, Parameters>>;

  template <size_t index, class Parameters>
  static std::string_view type_of() {
    return Argument<Plain<index, Parameters>>::type;
  }

  template <size_t index, class Parameters>
  static auto read(const ArrayOperation& self, const std::vector<Value>& values) {
    using Reader = Argument<Plain<index, Parameters>>;
    auto found = Reader::read(values[index]);
    if (!found) self.refuse(index, Reader::expected, values[index]);
    return std::move(*found);
  }

  template <size_t index, class Parameters, class Held>
  static decltype(auto) pass(Held& held) {
    if constexpr (std::is_base_of_v<HandleArgument<Plain<index, Parameters>>,
                                    Argument<Plain<index, Parameters>>>)
      return *held;
    else if constexpr (std::is_same_v<Plain<index, Parameters>, float>)
      return static_cast<float>(held);
    else
      return (held);
  }

  std::string_view group_;
  std::vector<ArrayOperation>& all_;
};

void add_create_operations(OperationGroup&& table);
void add_arrange_operations(OperationGroup&& table);
void add_elementwise_operations(OperationGroup&& table);
void add_reduce_operations(OperationGroup&& table);
void add_product_operations(OperationGroup&& table);
void add_cluster_operations(OperationGroup&& table);
void add_linalg_operations(OperationGroup&& table);
void add_network_operations(OperationGroup&& table);
void add_file_operations(OperationGroup&& table);

}  // namespace kaiseki::wasm
