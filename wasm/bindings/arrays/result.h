// SPDX-License-Identifier: MIT
// How the result of an operation becomes words for JavaScript. Result<T>::type() is its type in
// TypeScript, or an object with the types of its members.
#pragma once

#include <optional>

#include "base/json.h"
#include "nn/io/named_tensor.h"
#include "wasm/bindings/arrays/value.h"

namespace kaiseki::wasm {

template <class T>
struct Result;

template <>
struct Result<void> {
  static Json type() { return "void"; }
};
template <>
struct Result<Tensor> {
  static Json type() { return "Tensor"; }
  static void write(Words& words, Tensor&& value) { words.tensor(std::move(value)); }
};
template <>
struct Result<Lazy> {
  static Json type() { return "Tensor"; }
  static void write(Words& words, const Lazy& value) { words.tensor(value.eval()); }
};
template <>
struct Result<Random> {
  static Json type() { return "Random"; }
  static void write(Words& words, Random&& value) { words.random(std::move(value)); }
};
template <>
struct Result<bool> {
  static Json type() { return "boolean"; }
  static void write(Words& words, bool value) { words.number(value); }
};
template <>
struct Result<std::string> {
  static Json type() { return "string"; }
  static void write(Words& words, const std::string& value) { words.text(value); }
};
template <>
struct Result<ByteVector> {
  static Json type() { return "Uint8Array"; }
  static void write(Words& words, ByteVector&& value) { words.bytes(std::move(value)); }
};
template <>
struct Result<std::vector<Tensor>> {
  static Json type() { return "Tensor[]"; }
  static void write(Words& words, std::vector<Tensor>&& all) {
    words.number(static_cast<double>(all.size()));
    for (Tensor& one : all) words.tensor(std::move(one));
  }
};
template <>
struct Result<std::vector<nn::NamedTensor>> {
  static Json type() { return "Record<string, Tensor>"; }
  static void write(Words& words, std::vector<nn::NamedTensor>&& all) {
    words.number(static_cast<double>(all.size()));
    for (nn::NamedTensor& one : all) {
      words.text(one.name);
      words.tensor(std::move(one.value));
    }
  }
};

template <class Struct, class T>
struct Member {
  std::string_view name;
  T Struct::*place;
};
template <class Struct, class T>
Member(const char*, T Struct::*) -> Member<Struct, T>;

/// The members of a struct that is a result, as a tuple.
template <class T>
inline constexpr std::tuple<> kMembers;

template <class T>
requires(std::tuple_size_v<std::remove_cvref_t<decltype(kMembers<T>)>> > 0) struct Result<T> {
  static Json type() {
    Json object = Json::object();
    std::apply(
        [&](const auto&... member) {
          (object.set(member.name, Result<MemberType<decltype(member.place)>>::type()), ...);
        },
        kMembers<T>);
    return object;
  }
  static void write(Words& words, T&& value) {
    std::apply(
        [&](const auto&... member) {
          (Result<MemberType<decltype(member.place)>>::write(words, std::move(value.*member.place)),
           ...);
        },
        kMembers<T>);
  }

 private:
  template <class Place>
  using MemberType = std::remove_cvref_t<decltype(std::declval<T>().*std::declval<Place>())>;
};

}  // namespace kaiseki::wasm
