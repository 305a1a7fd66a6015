// SPDX-License-Identifier: MIT
// fuzz_seeds FOLDER: writes small valid inputs for every target, FOLDER/TARGET/NUMBER.
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/base64.h"
#include "base/file.h"
#include "dist/train/samples.h"
#include "dist/train/ticket.h"
#include "nn/io/csv.h"
#include "nn/io/gzip.h"
#include "nn/io/matrix_json.h"
#include "nn/io/npy.h"
#include "nn/io/npz.h"
#include "nn/io/safetensors.h"
#include "nn/io/tar.h"
#include "nn/io/tar_tensors.h"
#include "tests/nn/data/pictures.h"
#include "tests/support/encode_idx.h"
#include "tests/support/encode_picture.h"
#include "tests/support/tar.h"

using namespace kaiseki;
using namespace kaiseki::nn;
using test::encode_idx;

namespace {

ByteVector bytes_of(std::string_view text) {
  ByteView view = as_bytes(text);
  return ByteVector(view.begin(), view.end());
}

void save(const std::filesystem::path& folder, const std::vector<ByteVector>& seeds) {
  std::filesystem::create_directories(folder);
  for (size_t i = 0; i < seeds.size(); ++i) write_file_atomic(folder / std::to_string(i), seeds[i]);
}

/// A list of layers with every type of sukiyaki2.
constexpr const char* kSukiyaki2 = R"([
  {"name": "d", "type": "blob_data", "inputs": ["batch"], "outputs": ["raw", "label"],
   "params": {"data_shape": [4, 4, 1]}, "phase": ["train", "test"]},
  {"name": "a", "type": "data_augmentation", "inputs": ["raw"], "outputs": ["x"],
   "params": {"out_shape": [3, 3], "scale": 0.5, "random_crop": true, "random_flip": true}},
  {"name": "c", "type": "convolution_2d", "inputs": ["x"], "outputs": ["c"],
   "params": {"in_size": 1, "out_size": 2, "ksize": [2, 1], "stride": 1, "pad": [1, 0]}},
  {"name": "b", "type": "batch_normalization", "inputs": ["c"], "outputs": ["c"],
   "params": {"in_size": 2, "target_dim": 3}},
  {"name": "s", "type": "branch", "inputs": ["c"], "outputs": ["p", "q"], "params": {}},
  {"name": "r", "type": "relu", "inputs": ["p"], "outputs": ["p"], "phase": ["train"]},
  {"name": "t", "type": "plus", "inputs": ["p", "q"], "outputs": ["t"]},
  {"name": "m", "type": "pooling_2d", "inputs": ["t"], "outputs": ["m"],
   "params": {"type": "max", "ksize": 2, "stride": 2}},
  {"name": "f", "type": "linear", "inputs": ["m"], "outputs": ["f"],
   "params": {"in_shape": [2, 2, 2], "out_size": 2}},
  {"name": "o", "type": "dropout", "inputs": ["f"], "outputs": ["o"],
   "params": {"dropout_ratio": 0.5}},
  {"name": "l", "type": "softmax_cross_entropy", "inputs": ["o", "label"], "outputs": ["l"]},
  {"name": "n", "type": "accuracy", "inputs": ["o", "label"], "outputs": ["n"]}])";

/// sukiyaki2's weights of one layer.
ByteVector sukiyaki2_weights() {
  std::string file = R"({"f/weight":{"offset":1024,"size":16},"f/bias":{"offset":1040,"size":4}})";
  file.resize(1044);
  return bytes_of(file);
}

ByteVector file_samples() {
  const nn::SampleFile file{test::tiny_jpeg(), {{20, 20}, 2, 3}};
  return dist::pack_samples({Tensor::zeros({1, 1, 16, 17}, DType::u8, Device::cpu()), {}},
                            std::span(&file, 1));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: fuzz_seeds FOLDER\n", stderr);
    return 1;
  }
  std::filesystem::path folder = arguments[1];
  Device cpu = Device::cpu();
  std::vector<uint8_t> mask = {0, 1, 2};
  std::vector<NamedTensor> tensors = {{"w", Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}, cpu)},
                                      {"b", Tensor::from({7}, {}, cpu)}};
  ByteVector text = bytes_of("kaiseki kaiseki kaiseki"), idx = encode_idx({{2, 3}, ByteVector(6)});
  ByteVector tar, cifar(2 * 3073, std::byte{3});
  append_tar_file(tar, "train/cat/1.png", text);
  append_tar_file(tar, std::string(120, 'n'), {});
  test::finish_tar(tar);
  ByteVector fortran = encode_npy(tensors[0].value);
  std::string_view order = "False";
  for (size_t i = 0; i + order.size() < fortran.size(); ++i)
    if (std::memcmp(&fortran[i], order.data(), order.size()) == 0)
      std::memcpy(&fortran[i], "True ", order.size());

  save(folder / "base64", {bytes_of(encode_base64(text)), bytes_of("Zg==\nZm8=")});
  save(folder / "cifar", {cifar});
  save(folder / "gzip", {gzip(text), gzip(ByteVector(5000)), gzip(text, 0)});
  save(folder / "idx", {idx, gzip(idx)});
  save(folder / "npy", {encode_npy(tensors[0].value), fortran,
                        encode_npy(Tensor::from(std::span<const uint8_t>(mask), {3}, cpu))});
  save(folder / "npz", {encode_npz(tensors), encode_npz(tensors, true)});
  save(folder / "csv",
       {bytes_of(format_csv(tensors[0].value)), bytes_of("1;nan\n-2e3;inf\n"), bytes_of("1 2\n")});
  save(folder / "table", {bytes_of("a;b\n1;\"x\"\n;y\n"), bytes_of("1,2\n3,4\n")});
  save(folder / "matrix_json", {bytes_of(format_matrix_json(tensors[0].value))});
  save(folder / "picture", {test::encode_png(test::pattern(5, 7, 3)),
                            test::encode_png(test::pattern(4, 3, 1)), test::tiny_jpeg()});
  tensors.push_back({"m", Tensor::from(std::span<const uint8_t>(mask), {3, 1}, cpu)});
  save(folder / "safetensors",
       {encode_safetensors(tensors, {{"epoch", "1"}}), encode_safetensors({}, {})});
  tensors.pop_back();
  dist::TrainingTicket ticket{.work = dist::Work::backward,
                              .network = std::string(64, '0'),
                              .weights = std::string(64, '1'),
                              .samples = std::string(64, '2'),
                              .grad_output = tensors[0].value};
  const std::vector<dist::WireTensor> samples = {
      {"x", tensors[0].value}, {"y", Tensor::zeros({2}, DType::i32, cpu), dist::WireType::i32}};
  const std::string fit = R"({"data": ")" + std::string(64, '0') +
                          R"(", "model": "SVC", "settings": {"C": 0.1}, )"
                          R"("fold": 1, "folds": 5, "scale": true})";
  save(folder / "grid_ticket",
       {bytes_of(fit), dist::encode_tensors(samples), bytes_of(R"({"score": 0.9})")});
  save(folder / "wire_tensors",
       {dist::encode_ticket(ticket),
        dist::pack_samples({Tensor::zeros({2, 3}, DType::u8, cpu), {}}), file_samples(),
        dist::encode_tensors(std::vector<dist::WireTensor>{
            {"h", tensors[0].value, dist::WireType::f16},
            {"q", tensors[0].value, dist::WireType::i8},
            {"m", Tensor::from(std::span<const uint8_t>(mask), {3}, cpu), dist::WireType::u8}})});
  save(folder / "wire_delta", {dist::encode_tensors(std::vector<dist::WireTensor>{
                                  {"a", tensors[0].value, dist::WireType::f16},
                                  {"b", tensors[0].value, dist::WireType::f16}})});
  save(folder / "websocket",  // with a mask of 0: fragments, a ping, a close
       {bytes_of({"\x02\x83\0\0\0\0one\x89\x80\0\0\0\0\x80\x83\0\0\0\0two", 24}),
        bytes_of({"\x82\xfe\0\x7e\0\0\0\0", 8}), bytes_of({"\x88\x82\0\0\0\0\x03\xe8", 8})});
  save(folder / "network_json", {bytes_of(kSukiyaki2)});
  save(folder / "sukiyaki2_weights", {sukiyaki2_weights()});
  save(folder / "tar", {tar, encode_tar_tensors(tensors), gzip(encode_tar_tensors(tensors))});
}
