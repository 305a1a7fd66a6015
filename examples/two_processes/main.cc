// SPDX-License-Identifier: MIT
// Two processes train one network. Each computes the gradients of half of the minibatches. They
// exchange the gradients as tar buffers, so both have the same weights after each step.
#include <kaiseki.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>

using namespace kaiseki;

void transfer(int socket, std::byte* bytes, size_t count, bool send) {
  for (size_t done = 0; done < count;) {
    const ssize_t more = send ? ::send(socket, bytes + done, count - done, MSG_NOSIGNAL)
                              : ::recv(socket, bytes + done, count - done, 0);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) throw Error("the other process ended");
    done += static_cast<size_t>(more);
  }
}

/// The buffers of both processes have the same size.
ByteVector exchange(int socket, ByteVector mine, bool sends_first) {
  ByteVector theirs(mine.size());
  for (const bool send : {sends_first, !sends_first})
    transfer(socket, send ? mine.data() : theirs.data(), mine.size(), send);
  return theirs;
}

int train(const char* file, int socket, bool first) try {
  nn::Network network = nn::Network::load(file, Device::cpu());
  nn::Iterator batches(nn::open_dataset({.spec = "digits:4000"}), {.batch_size = 50});
  nn::Optimizer optimizer({.name = "adagrad", .initial_square_sum = 0.01});

  nn::Batch batch;
  for (int step = 1; step <= 30; ++step) {
    for (const bool mine : {first, !first}) {
      batches.next(batch);
      if (!mine) continue;
      network.zero_grad();
      network.forward_loss(batch.inputs(Device::cpu()), batch.labels);
      network.backward();
    }
    nn::add_tar(network, exchange(socket, nn::gather_tar(network), first));
    optimizer.step(network.parameters(), network.gradients(), 0.02);
  }

  const ByteVector weights = nn::encode_weights("tar", network);
  const bool equal = exchange(socket, weights, first) == weights;
  batches.next(batch);
  const float loss = network.forward_loss(batch.inputs(Device::cpu()), batch.labels).loss.item();
  if (first) std::cout << "loss " << loss << (equal ? ", equal weights\n" : ", other weights\n");
  return equal && loss < 1 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "two_processes: " << error.what() << '\n';
  return 1;
}

int main(int argc, char** argv) {
  int sockets[2];
  if (argc != 2 || ::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) {
    std::cerr << "usage: two_processes NET.json\n";
    return 1;
  }
  const pid_t child = ::fork();
  if (child < 0) {
    std::cerr << "two_processes: cannot start another process\n";
    return 1;
  }
  ::close(sockets[child == 0 ? 0 : 1]);
  if (child == 0) return train(argv[1], sockets[1], false);
  const int mine = train(argv[1], sockets[0], true);
  ::close(sockets[0]);
  int theirs = 1;
  ::waitpid(child, &theirs, 0);
  return mine != 0 || theirs != 0;
}
