// SPDX-License-Identifier: MIT
// Data sets: the built-in digits, the files of MNIST and CIFAR-10, and batches of samples.
#include <algorithm>
#include <span>

#include "matrix/ops/index.h"
#include "matrix/ops/normalize.h"
#include "matrix/threads.h"
#include "nn/data/picture.h"
#include "nn/data/source.h"
#include "nn/io/idx.h"
#include "wasm/bindings/call.h"

namespace kaiseki::wasm {
namespace {

using namespace nn;

Tensor bytes_tensor(std::span<const uint8_t> values, const Shape& shape) {
  return Tensor::from(values, shape, Device::cpu());
}

}  // namespace

/// Selects samples by index.
KAISEKI_EXPORT Tensor* kaiseki_rows(const Tensor* table, const int32_t* rows, int count) {
  return guarded([&] {
    require(table->rank() > 0, "batch", "expected samples, got one number");
    const std::span<const int32_t> index(rows, static_cast<size_t>(count));
    return handle(take(*table, Tensor::from(index, {count}, Device::cpu()), 0));
  });
}

/// Returns (x / 255 - mean) / std of bytes, f32.
KAISEKI_EXPORT Tensor* kaiseki_normalize(const Tensor* x, const float* mean, int means,
                                         const float* std, int stds) {
  return guarded([&] {
    return handle(
        normalize(*x, {mean, static_cast<size_t>(means)}, {std, static_cast<size_t>(stds)}));
  });
}

/// Writes the images u8 [count, 1, 28, 28] and the labels i32 [count] of the built-in digits.
KAISEKI_EXPORT int kaiseki_digits(int count, double seed, bool train, Tensor** out) {
  return guarded([&] {
    if (count < 1) throw Error(message("data", "expected one digit or more, got ", count));
    const auto source =
        make_digits(train ? count : (count + 4) / 5, static_cast<uint64_t>(seed), train);
    Picture first;
    source->read(0, {}, first);
    const Preprocessing how{first.channels, first.height, first.width};
    const Shape sample{how.channels, how.height, how.width};
    Tensor images({source->size(), sample[0], sample[1], sample[2]}, DType::u8, Device::cpu());
    Tensor labels({source->size()}, DType::i32, Device::cpu());
    uint8_t* values = images.overwrite<uint8_t>();
    int32_t* classes = labels.overwrite<int32_t>();
    parallel_for(source->size(), 32, [&](int64_t begin, int64_t end) {
      Picture picture;
      for (int64_t i = begin; i < end; ++i) {
        source->read(i, how, picture);
        prepare_sample(picture, how, nullptr, values + i * sample.elements());
        classes[i] = source->label(i);
      }
    });
    out[0] = handle(std::move(images));
    out[1] = handle(std::move(labels));
    return 1;
  });
}

/// Reads an IDX file: u8, of the shape in its header.
KAISEKI_EXPORT Tensor* kaiseki_idx(const std::byte* file, size_t size) {
  return guarded([&] {
    MemorySource source({file, size}, "IDX file");
    const IdxArray array = read_idx(source);
    return handle(bytes_tensor(
        {reinterpret_cast<const uint8_t*>(array.bytes.data()), array.bytes.size()}, array.shape));
  });
}

/// Reads CIFAR-10's records: images u8 [n, 3, 32, 32] and labels i32 [n].
KAISEKI_EXPORT int kaiseki_cifar10(const std::byte* file, size_t size, Tensor** out) {
  return guarded([&] {
    CifarBatch batch;
    append_cifar_batch({file, size}, "CIFAR-10 batch", batch);
    const auto n = static_cast<int64_t>(batch.labels.size());
    const int axes[] = {0, 3, 1, 2};
    Tensor images = bytes_tensor(batch.pixels, {n, 32, 32, 3}).permute(axes).contiguous();
    Tensor labels = Tensor::from(std::span<const int32_t>(batch.labels), {n}, Device::cpu());
    out[0] = handle(std::move(images));
    out[1] = handle(std::move(labels));
    return 1;
  });
}

/// Decodes a JPEG or PNG, scales it to cover height x width and crops it. Returns u8 [1, channels,
/// height, width]. With `as_stored`, the orientation in the file is ignored.
KAISEKI_EXPORT Tensor* kaiseki_picture(const std::byte* file, size_t size, int channels, int height,
                                       int width, int as_stored) {
  return guarded([&] {
    require((channels == 1 || channels == 3) && std::min(height, width) > 0 &&
                std::max(height, width) <= kMaxPictureSide,
            "picture", "expected 1 or 3 channels and sides from 1 to ", kMaxPictureSide, ", got ",
            channels, " and ", width, " x ", height);
    const Preprocessing how{
        .channels = channels, .height = height, .width = width, .as_stored = as_stored != 0};
    Tensor sample({1, channels, height, width}, DType::u8, Device::cpu());
    prepare_sample(decode_for({file, size}, "picture", how), how, nullptr,
                   sample.overwrite<uint8_t>());
    return handle(std::move(sample));
  });
}

}  // namespace kaiseki::wasm
