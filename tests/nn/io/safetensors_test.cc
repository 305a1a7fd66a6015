// SPDX-License-Identifier: MIT
#include "nn/io/safetensors.h"

#include "base/file.h"
#include "tests/nn/io/damage.h"
#include "tests/support/folder.h"

using namespace kaiseki;
using namespace kaiseki::nn;
using test::refuses;

namespace {

ByteVector file(const std::string& header, std::string_view data = "") {
  std::string text(8, '\0');
  store_le<uint64_t>(header.size(), reinterpret_cast<std::byte*>(text.data()));
  text += header;
  text += data;
  return test::bytes_from(text);
}

void parse(ByteView bytes) {
  Metadata metadata;
  read_safetensors(bytes, &metadata);
}

std::vector<NamedTensor> samples() {
  std::vector<int32_t> ints = {1, -2, 1 << 30};
  std::vector<uint8_t> bytes = {0, 7, 255};
  std::vector<double> wide = {0.1, -1e300};
  return {{"conv1.weight", Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}, Device::cpu())},
          {"steps \"1\" \xe6\x87\x90",
           Tensor::from(std::span<const int32_t>(ints), {3}, Device::cpu())},
          {"mask", Tensor::from(std::span<const uint8_t>(bytes), {3, 1}, Device::cpu())},
          {"empty", Tensor(Shape{0, 4}, DType::f32, Device::cpu())},
          {"scalar", Tensor::from({0.5f}, {}, Device::cpu())},
          {"wide", Tensor::from(std::span<const double>(wide), {2, 1}, Device::cpu())}};
}

}  // namespace

TEST_CASE("safetensors: reads the tensors and metadata that it writes") {
  test::Folder folder;
  Metadata metadata = {{"epoch", "3"}, {"note", "a\n\"b\""}}, found = {{"old", "gone"}};
  write_safetensors(folder.path / "w.safetensors", samples(), metadata);
  auto read = read_safetensors(folder.path / "w.safetensors", &found);
  CHECK(found == metadata);
  REQUIRE(read.size() == 6);
  auto expected = samples();
  for (size_t i = 0; i < 6; ++i) {
    CHECK(read[i].name == expected[i].name);
    CHECK(read[i].value.shape() == expected[i].value.shape());
    CHECK(read[i].value.dtype() == expected[i].value.dtype());
  }
  CHECK(read[0].value.to_vector() == expected[0].value.to_vector());
  CHECK(read[1].value.to_vector<int32_t>() == expected[1].value.to_vector<int32_t>());
  CHECK(read[2].value.to_vector<uint8_t>() == expected[2].value.to_vector<uint8_t>());
  CHECK(read[5].value.to_vector<double>() == expected[5].value.to_vector<double>());
  ByteVector bytes = read_file(folder.path / "w.safetensors");
  CHECK(bytes == encode_safetensors(samples(), metadata));
  CHECK(load_le<uint64_t>(bytes.data()) % 8 == 0);
  CHECK(read_safetensors(encode_safetensors({}, {})).empty());
}

TEST_CASE("safetensors: reads the format's example in the order of the bytes") {
  auto tensors = read_safetensors(
      file(R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},)"
           R"("a":{"shape":[1],"data_offsets":[0,4],"dtype":"I32"},"__metadata__":{"k":"v"}}   )",
           std::string_view("\1\0\0\0\7\10", 6)));
  CHECK(tensors[0].name == "a");
  CHECK(tensors[0].value.data<int32_t>()[0] == 1);
  CHECK(tensors[1].value.data<uint8_t>()[1] == 8);
}

TEST_CASE("safetensors: a wrong header throws ParseError") {
  auto one = [](const std::string& entry) { return file("{\"w\":" + entry + "}", "\1\2\3\4"); };
  const std::string ok = R"("dtype":"F32","shape":[1])";
  CHECK(!refuses(parse, one("{" + ok + R"(,"data_offsets":[0,4]})"), ""));
  CHECK(refuses(parse, one("{" + ok + R"(,"data_offsets":[0,8]})"), "\"w\": expected 4 bytes"));
  CHECK(refuses(parse, one("{" + ok + R"(,"data_offsets":[4,0]})"), "expected 4 bytes"));
  CHECK(
      refuses(parse, one("{" + ok + R"(,"data_offsets":[4,8]})"), "expected data_offsets from 0"));
  CHECK(refuses(parse, one("{" + ok + R"(,"data_offsets":[0]})"), "two data_offsets"));
  CHECK(refuses(parse, one("{" + ok + R"(,"data_offsets":[0,4,8]})"), "two data_offsets"));
  CHECK(refuses(parse, one("{" + ok + R"(,"data_offsets":[-1,3]})"), "2^53, got -1"));
  CHECK(refuses(parse, one("{" + ok + R"(,"data_offsets":[0.5,4]})"), "2^53, got 0.5"));
  CHECK(refuses(parse, one("{" + ok + "}"), "two data_offsets"));
  CHECK(refuses(parse, one(R"({"shape":[1],"data_offsets":[0,4]})"), "dtype and shape"));
  CHECK(refuses(parse, one(R"({"dtype":"F99","shape":[1],"data_offsets":[0,4]})"), "F99"));
  CHECK(refuses(parse, one(R"({"dtype":"F32","shape":[[1]],"data_offsets":[0,4]})"), "a list"));
  CHECK(refuses(parse,
                one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]})"),
                "2^60"));
  CHECK(refuses(parse,
                file(R"({"w":{"dtype":"F32","shape":[2147483648,2147483648],)"
                     R"("data_offsets":[0,0]}})"),
                "\"w\": expected a shape of at most 2^60 elements, got [2147483648, 2147483648]"));
  CHECK(refuses(parse,
                one(R"({"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]})"),
                "2^53"));
  CHECK(refuses(parse, one(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]})"),
                "8 dimensions"));
  CHECK(refuses(parse, one("{" + ok + R"(,"data_offsets":[0,4],"x":{}})"), "\"x\""));
  CHECK(
      refuses(parse, one("{" + ok + ",\"shape\":[1]" + R"(,"data_offsets":[0,4]})"), "once only"));
  CHECK(refuses(parse, one("3"), "got 3"));
  CHECK(refuses(parse, file("[1]"), "a list"));
  CHECK(refuses(parse, file("{}", "x"), "0 bytes of tensors, got 1"));
  CHECK(refuses(parse, file(R"({"__metadata__":{"a":{}}})"), "an object"));
  CHECK(refuses(parse, file("{\"w\":" + std::string(100'000, '[')),
                "header: line 1: expected at most 64 levels"));
  CHECK(refuses(parse, file("{\"w\":\xff}"), "header: the text is not UTF-8"));
  std::string twice = "{" + ok + R"(,"data_offsets":[0,4]})";
  CHECK(refuses(parse, file("{\"w\":" + twice + ",\"w\":" + twice + "}", "1234"), "once only"));
  CHECK(refuses(parse, file("{\"w\":" + twice + ",\"v\":" + twice + "}", "1234"), "from 4, got 0"));
  ByteVector hostile = file("{}");
  for (uint64_t length : {uint64_t{3}, uint64_t{99'999'999}, ~uint64_t{0}}) {
    store_le<uint64_t>(length, hostile.data());
    CHECK(refuses(parse, hostile, "within the file"));
  }
}

TEST_CASE("safetensors: truncated or changed files throw or give tensors, with little memory") {
  ByteVector bytes = encode_safetensors(samples(), {{"a", "b"}});
  test::check_truncated(parse, bytes);
  test::check_changed(parse, bytes, 5000);
}

TEST_CASE("safetensors: a flipped bit never changes what is read") {
  const std::vector<NamedTensor> tensors = {{"w", Tensor::from({1, 2, 3}, {3}, Device::cpu())}};
  auto read = [](ByteView file) {
    Metadata metadata;
    std::string text;
    for (const NamedTensor& tensor : read_safetensors(file, &metadata)) {
      text += tensor.name;
      for (float value : tensor.value.to_vector()) text += " " + std::to_string(value);
    }
    return text + " step " + metadata["step"];
  };
  const ByteVector whole = encode_safetensors(tensors, {{"step", "12"}});
  CHECK(read(whole) == "w 1.000000 2.000000 3.000000 step 12");
  const int accepted = test::count_accepted_flips(read, whole);
  CHECK(accepted <= 8 * 14);  // only changes in the checksum's name are not detected
}

TEST_CASE("safetensors: duplicate, reserved and non-UTF-8 names throw Error") {
  Tensor t = Tensor::from({1}, {1}, Device::cpu());
  std::vector<NamedTensor> twice = {{"w", t}, {"w", t}}, broken = {{"\xff", t}},
                           reserved = {{"__metadata__", t}};
  CHECK_THROWS_WITH_AS(encode_safetensors(twice), doctest::Contains("\"w\" again"), Error);
  CHECK_THROWS_WITH_AS(encode_safetensors(broken), doctest::Contains("UTF-8"), Error);
  CHECK_THROWS_AS(encode_safetensors(reserved), Error);
}
