// SPDX-License-Identifier: MIT
#include "cli/state_folder.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"
#include "cli/for_option.h"
#include "cli/private_folder.h"

namespace kaiseki::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, const fs::path& file) {
  throw Error(message("serve", what, " ", file.string(), ": ", std::strerror(errno)));
}

std::string random_token() {
  std::array<std::byte, 24> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(message("serve", "cannot read random bytes from the system"));
  return to_hex(bytes);
}

}  // namespace

fs::path state_folder(const std::string& given) {
  fs::path folder = given.empty() ? environment().state_dir : fs::path(given);
  make_private_folder("serve", folder);
  return folder;
}

std::string read_token(const fs::path& file) {
  const ByteVector bytes = read_file(file, 4096);
  std::string token(as_text(bytes));
  token.erase(token.find_last_not_of(" \r\n") + 1);
  if (token.size() < 16 || token.find_first_of(" \r\n\t") != std::string::npos)
    throw Error(message("token", "expected a token of at least 16 characters in ", file.string()));
  return token;
}

std::string token_for(const dist::CoordinatorUrl& url, const TokenOption& given,
                      const std::string& own) {
  const bool near = dist::is_loopback(url);
  if (!given.file.empty())
    return for_option(given.name, [&] {
      if (!near && !url.tls)
        throw Error(message(
            "pool", "expected https to send a token to another machine, got http://", url.host));
      return read_token(given.file);
    });
  // This machine's own token is only for a coordinator on this machine.
  const fs::path file = environment().state_dir / own;
  return near && fs::exists(file) ? read_token(file) : "";
}

std::string token_of(const fs::path& file) {
  if (fs::exists(file)) return read_token(file);
  const std::string line = random_token() + "\n";
  // mkostemp() replaces the six letters. Only this user can read the new file.
  std::string temporary = file.string() + "." + std::string(6, 'X');
  const int made = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (made < 0) fail("cannot make", file);
  const bool written = ::write(made, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  ::close(made);
  // If several processes start at the same time, all use the token of the first.
  const bool linked = written && (::link(temporary.c_str(), file.c_str()) == 0 || errno == EEXIST ||
                                  ::rename(temporary.c_str(), file.c_str()) == 0);
  const int error = errno;
  ::unlink(temporary.c_str());
  errno = error;
  if (!linked) fail("cannot write", file);
  return read_token(file);
}

}  // namespace kaiseki::cli
