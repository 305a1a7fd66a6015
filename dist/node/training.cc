// SPDX-License-Identifier: MIT
#include "dist/node/training.h"

#include <memory>
#include <mutex>

#include "base/error.h"
#include "dist/train/training_node.h"

namespace kaiseki::dist {
namespace {

struct TicketTrainer {
  /// This keeps the blobs of one ticket only. The node's own cache keeps the others
  /// (dist/node/node.cc).
  explicit TicketTrainer(Device device) : node(device, 0) {}

  ByteVector run(ByteView ticket, const TicketContext& context) {
    {
      const std::lock_guard one_fetches(fetching);
      for (const std::string& hash : missing(ticket)) {
        ByteVector bytes = context.fetch(hash);
        const std::lock_guard lock(computing);
        node.add_blob(hash, std::move(bytes));
      }
    }
    const std::lock_guard lock(computing);
    if (context.cancelled()) throw Error("cancelled");
    return node.run(ticket, context.fetch,
                    context.memory_bytes);  // fetches a blob again that was evicted meanwhile
  }

  std::vector<std::string> missing(ByteView ticket) {
    const std::lock_guard lock(computing);
    return node.missing(ticket);
  }

  std::mutex fetching, computing;
  TrainingNode node;
};

}  // namespace

NodeFunction training_function(Device device) {
  return [trainer = std::make_shared<TicketTrainer>(device)](ByteView input,
                                                             const TicketContext& context) {
    if (!input.empty()) return trainer->run(input, context);
    if (context.blobs.size() != 1)
      throw Error(message("train", "expected a ticket, or one blob with it, got ",
                          context.blobs.size(), " blobs"));
    const ByteVector ticket = context.fetch(context.blobs[0]);
    return trainer->run(ticket, context);
  };
}

}  // namespace kaiseki::dist
