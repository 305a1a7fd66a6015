// SPDX-License-Identifier: MIT
// Decodes JPEG with libjpeg-turbo. The library reports an error by a call that must not return: it
// jumps back into run(). The frames in between must own nothing, as their destructors do not run.
// unity: alone (a program may have jpeg_stb.cc instead)
//
// Each of these headers needs the declarations of the header before it.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <bit>
#include <csetjmp>

#include "base/error.h"
#include "nn/data/jpeg.h"
#include "nn/data/source.h"

namespace kaiseki::nn {
namespace {

// The number of passes over all pixels is limited, because a few bytes of a file can cause one
// more.
constexpr int kMaxScans = 100;
constexpr int kRowsAtOnce = 16;
constexpr int kMostLeft = 8;  // bytes after the last code

struct JpegDecoder {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf failed{};
  bool in_scans = false;  // whether the header was read
  char what[JMSG_LENGTH_MAX] = "";

  JpegDecoder() = default;
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() { jpeg_destroy_decompress(&jpeg); }

  /// Returns true if `body` ends without an error. Otherwise `what` has the reason. The frames of
  /// `body` must own nothing.
  template <typename Body>
  bool run(Body body) {
    if (setjmp(failed)) return false;
    body();
    return true;
  }
};

JpegDecoder& decoder_of(j_common_ptr jpeg) { return *static_cast<JpegDecoder*>(jpeg->client_data); }

void give_up(j_common_ptr jpeg) {
  JpegDecoder& decoder = decoder_of(jpeg);
  jpeg->err->format_message(jpeg, decoder.what);
  std::longjmp(decoder.failed, 1);
}

/// Turns warnings about missing or damaged codes into errors. After other warnings, such as bytes
/// between segments of the header, the picture is usable.
void look_at_warning(j_common_ptr jpeg, int level) {
  constexpr int kDamage[] = {JWRN_HUFF_BAD_CODE, JWRN_ARITH_BAD_CODE, JWRN_JPEG_EOF,
                             JWRN_HIT_MARKER, JWRN_MUST_RESYNC};
  if (level >= 0) return;
  const jpeg_error_mgr& warning = *jpeg->err;
  const bool codes_left = warning.msg_code == JWRN_EXTRANEOUS_DATA && decoder_of(jpeg).in_scans &&
                          warning.msg_parm.i[0] > kMostLeft;
  if (codes_left || std::ranges::count(kDamage, warning.msg_code) > 0) give_up(jpeg);
}

void count_scans(j_common_ptr jpeg) {
  JpegDecoder& decoder = decoder_of(jpeg);
  if (decoder.jpeg.input_scan_number <= kMaxScans) return;
  std::snprintf(decoder.what, sizeof decoder.what, "more than %d scans", kMaxScans);
  std::longjmp(decoder.failed, 1);
}

void print_nothing(j_common_ptr) {}

bool read_header(JpegDecoder& decoder, ByteView file) {
  jpeg_decompress_struct& jpeg = decoder.jpeg;
  jpeg.err = jpeg_std_error(&decoder.errors);
  decoder.errors.error_exit = give_up;
  decoder.errors.emit_message = look_at_warning;
  decoder.errors.output_message = print_nothing;
  decoder.progress.progress_monitor = count_scans;
  jpeg.client_data = &decoder;
  return decoder.run([&] {
    jpeg_create_decompress(&jpeg);
    jpeg.progress = &decoder.progress;
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_read_header(&jpeg, TRUE);
  });
}

/// If `light` is set, the values are light instead of ink. Photoshop writes such files, with
/// Adobe's marker.
void cmyk_to_rgb(const std::vector<uint8_t>& cmyk, bool light, std::vector<uint8_t>& rgb) {
  const int ink = light ? 0 : 255;
  rgb.resize(cmyk.size() / 4 * 3);
  for (size_t i = 0; i < cmyk.size() / 4; ++i)
    for (size_t c = 0; c < 3; ++c)
      rgb[3 * i + c] =
          static_cast<uint8_t>(((cmyk[4 * i + c] ^ ink) * (cmyk[4 * i + 3] ^ ink) + 127) / 255);
}

}  // namespace

PictureInfo jpeg_info(ByteView file, std::string_view source) {
  JpegDecoder decoder;
  if (!read_header(decoder, file))
    throw ParseError(source, "header",
                     std::string("expected the header of a JPEG, got: ") + decoder.what);
  const int components = decoder.jpeg.num_components;
  if (components != 1 && components != 3 && components != 4)
    throw ParseError(source, "header",
                     "expected a JPEG of 1, 3 or 4 components, got " + std::to_string(components));
  return {static_cast<int>(decoder.jpeg.image_height), static_cast<int>(decoder.jpeg.image_width),
          components == 1 ? 1 : 3};
}

Picture decode_jpeg(ByteView file, std::string_view source, const PictureInfo& info, int channels,
                    int eighths) {
  JpegDecoder decoder;
  jpeg_decompress_struct& jpeg = decoder.jpeg;
  Picture picture{0, 0, channels, {}};
  picture.eighths = jpeg_eighths(eighths);
  picture.whole_height = info.height;
  picture.whole_width = info.width;
  bool ok = read_header(decoder, file) && decoder.run([&] {
    jpeg.scale_num = static_cast<unsigned>(picture.eighths);
    jpeg.scale_denom = 8;
    jpeg.out_color_space = jpeg.num_components == 4 ? JCS_CMYK
                           : channels == 1          ? JCS_GRAYSCALE
                                                    : JCS_RGB;
    decoder.in_scans = true;
    jpeg_start_decompress(&jpeg);
  });
  std::vector<uint8_t> cmyk;
  const bool four = ok && jpeg.output_components == 4;
  std::vector<uint8_t>& pixels = four ? cmyk : picture.pixels;
  if (ok) {
    const size_t row = static_cast<size_t>(jpeg.output_width) * jpeg.output_components;
    pixels.resize(row * jpeg.output_height);
    uint8_t* first = pixels.data();
    ok = decoder.run([&jpeg, first, row] {
      while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW rows[kRowsAtOnce];
        for (unsigned i = 0; i < kRowsAtOnce; ++i)
          rows[i] = first + row * std::min(jpeg.output_scanline + i, jpeg.output_height - 1);
        jpeg_read_scanlines(&jpeg, rows, kRowsAtOnce);
      }
      jpeg_finish_decompress(&jpeg);
    });
  }
  if (!ok)
    throw ParseError(source, "pixels", std::string("expected a picture, got: ") + decoder.what);
  picture.height = static_cast<int>(jpeg.output_height);
  picture.width = static_cast<int>(jpeg.output_width);
  if (four) {
    cmyk_to_rgb(cmyk, jpeg.saw_Adobe_marker, picture.pixels);
    picture.channels = 3;
    convert_channels(picture, channels);
  }
  return picture;
}

/// Returns 1, 2, 4 or 8. libjpeg-turbo has vector code for these scales only. Other scales take
/// longer than 8.
int jpeg_eighths(int eighths) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(eighths)));
}

const char* jpeg_decoder() { return "libjpeg-turbo"; }

}  // namespace kaiseki::nn
