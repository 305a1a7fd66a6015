// SPDX-License-Identifier: MIT
#include "cli/options.h"

#include <CLI/CLI.hpp>

#include "matrix/error.h"
#include "nn/schedule.h"

namespace kaiseki::cli {
namespace {

constexpr const char* kNetworkHelp =
    "network: a JSON or ONNX file, or the name of one in ./models or in the installed models "
    "(lenet)";
constexpr const char* kWeightsHelp =
    "weights: .safetensors, .json, .tar, .onnx, or a folder of checkpoints (its best one); not "
    "needed when NET holds weights itself";

void add_device(CLI::App* app, DeviceOptions& options) {
  app->add_option("--device", options.device,
                  "cpu, opencl, opencl:N or auto (default: KAISEKI_DEVICE, else auto)");
  app->add_option("--threads", options.threads, "CPU threads (default: KAISEKI_THREADS, else all)")
      ->check(CLI::Range(0, 1024));
}

/// For commands that compute convolutions.
void add_convolutions(CLI::App* app, DeviceOptions& options) {
  auto* group = app->add_option_group("Convolutions");
  group
      ->add_option("--workspace", options.workspace,
                   "memory that convolutions may use to be faster: auto (what is free), none, or "
                   "bytes such as 8M")
      ->capture_default_str();
  group
      ->add_option("--tune", options.tune,
                   "off, cached (use what was measured), hybrid (measure large convolutions that "
                   "are not known), exhaustive (measure all anew) or amortised (while training)")
      ->capture_default_str()
      ->check(CLI::IsMember({"off", "cached", "hybrid", "exhaustive", "amortised"}));
  group->add_flag("--deterministic", options.deterministic,
                  "the same bits with any number of threads: no choice by measurements");
}

void add_data(CLI::App* app, DataOptions& options) {
  app->add_option("--data", options.data,
                  "mnist, fashion-mnist, cifar10, digits, or a folder or tar of pictures by class")
      ->required();
  app->add_option("--limit", options.limit, "use only N samples, spread over all")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--resize", options.resize,
                  "scale the shorter side to N pixels, then crop (default: as --weights say, else "
                  "just enough to cover the network's input)")
      ->check(CLI::Range(1, 16384));
  app->add_option("--mean", options.mean, "subtracted from pixels in 0..1, one for each channel")
      ->delimiter(',')
      ->take_all();
  app->add_option("--std", options.std, "that pixels are then divided by, one for each channel")
      ->delimiter(',')
      ->take_all();
}

CLI::Option* add_network(CLI::App* app, std::string& network) {
  return app->add_option("network", network, kNetworkHelp)->required()->type_name("NET");
}

void add_tune(CLI::App& root, TuneCommand& c) {
  auto* app = root.add_subcommand(
      "tune",
      "Measure every way to compute a network's convolutions, and use the fastest from then");
  add_network(app, c.network);
  app->add_option("--batch-size", c.batch_size, "samples in a minibatch, as in training")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  add_device(app, c.device);
  app->add_flag("--json", c.json, "one JSON line for each solver of each convolution");
  app->footer(
      "Examples:\n  kaiseki tune cifar\n"
      "  kaiseki tune models/lenet.json --batch-size 64 --threads 1");
}

void add_pool(CLI::App* app, PoolTrainCommand& c) {
  auto* pool = app->add_option_group("Pool");
  auto* where = pool->add_option("--pool", c.where,
                                 "have nodes compute that join (kaiseki join). serve: coordinate "
                                 "them here; a URL: through the coordinator there (kaiseki serve). "
                                 "Without nodes it trains alone");
  where->type_name("serve|URL")->check([](const std::string& given) {
    const bool known = given == "serve" || given.find("://") != std::string::npos;
    return known ? "" : "expected serve or a URL such as http://127.0.0.1:8080, got " + given;
  });
  pool->add_option("--pool-token-file", c.token_file,
                   "of --pool URL: the coordinator's token for authors (default: that of "
                   "KAISEKI_STATE_DIR)")
      ->needs(where);
  pool->add_option("--pool-tls-ca", c.certificates,
                   "of --pool URL: certificates to trust, in PEM format (default: the system's)")
      ->needs(where);
  pool->add_option("--pool-port", c.port,
                   "of --pool serve (default: 8080); 0: any that is free. Where your kaiseki serve "
                   "has it, training goes through that one")
      ->check(CLI::Range(0, 65535))
      ->needs(where);
  pool->add_option("--pool-mode", c.mode,
                   "what nodes compute: data (all gradients), paper (those of the convolutions), "
                   "border (the layers before the border) or auto (the fastest of them)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "data", "paper", "border"}))
      ->needs(where);
  pool->add_option("--pool-wire", c.wire, "numbers on the wire: f32 (exact), f16 or i8")
      ->capture_default_str()
      ->check(CLI::IsMember({"f32", "f16", "i8"}))
      ->needs(where);
  pool->add_option("--pool-border", c.border,
                   "the last layer that nodes compute (default: that before the first fully "
                   "connected one)")
      ->needs(where);
  pool->add_option("--pool-ticket", c.ticket_samples,
                   "samples of a ticket (default: an eighth of a minibatch, but 16 or more)")
      ->check(CLI::Range(1, 1 << 20))
      ->needs(where);
  pool->add_option("--pool-after", c.after,
                   "accuracy=NUMBER: train alone until an epoch reached it (0.5 is half)")
      ->needs(where);
  pool->add_flag("--pool-private", c.is_private,
                 "only for nodes with the coordinator's token; without this, who opens the "
                 "volunteer's page gets pictures, labels and weights to compute with")
      ->needs(where);
  pool->add_option("--pool-log", c.log, "of --pool serve: what happens in the pool, as JSON lines")
      ->needs(where);
}

void add_train(CLI::App& root, TrainCommand& c) {
  auto* app = root.add_subcommand("train", "Train a network on a data set");
  add_network(app, c.network);
  add_data(app, c.data);
  app->add_option("--epochs", c.epochs, "epochs in all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app->add_option("--batch-size", c.batch_size, "samples in a minibatch")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--seed", c.seed, "of weights, order and augmentation")->capture_default_str();
  add_device(app, c.device);
  add_convolutions(app, c.device);

  auto* optimizer = app->add_option_group("Optimizer");
  optimizer->add_option("--optimizer", c.optimizer.name, "the update rule")
      ->capture_default_str()
      ->check(CLI::IsMember(nn::optimizer_names()));
  optimizer->add_option("--lr", c.learning_rate,
                        "learning rate (default: 0.01; adam, adamw 0.001)");
  optimizer->add_option("--momentum", c.optimizer.momentum, "of momentum and nesterov")
      ->capture_default_str();
  optimizer->add_option("--weight-decay", c.optimizer.weight_decay,
                        "L2 (adamw: decoupled, default 0.01); biases do not decay");
  optimizer->add_option("--clip-norm", c.optimizer.clip_norm,
                        "scale all gradients together down to this norm");
  optimizer->add_option("--schedule", c.schedule, "constant, step, cosine or linear")
      ->capture_default_str()
      ->check(CLI::IsMember({"constant", "step", "cosine", "linear"}));
  optimizer->add_option("--warmup", c.warmup, "epochs of linear warm-up (0.5 is half an epoch)");
  optimizer->add_option("--step-size", c.step_size, "step: epochs between reductions");
  optimizer->add_option("--gamma", c.gamma, "step: factor of a reduction")->capture_default_str();
  optimizer->add_option("--min-lr", c.minimum_rate, "cosine, linear: the last learning rate");

  auto* input = app->add_option_group("Data");
  input->add_option("--augment", c.augment,
                    "flip, crop or crop:PADDING, joined by commas (PADDING: 4, with --resize 0)");
  input
      ->add_option("--workers", c.workers,
                   "threads that make batches ready (default: half of the cores, at most 8)")
      ->check(CLI::Range(1, 1024));
  input
      ->add_option("--test-limit", c.test_limit, "evaluate on only N test samples, spread over all")
      ->check(CLI::NonNegativeNumber);
  input->add_option("--eval-every", c.evaluate_every, "epochs between evaluations; 0: never")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  input->add_option("--early-stop", c.early_stop, "stop after N evaluations without a better one")
      ->check(CLI::NonNegativeNumber);

  auto* files = app->add_option_group("Files");
  files->add_option("--weights", c.weights,
                    "start from these weights; what does not fit NET is told, and starts anew");
  files->add_option("--save", c.save,
                    "write the weights here in the end (.onnx: the network with them)");
  files->add_option("--checkpoint", c.checkpoint,
                    "folder of checkpoints, written after each epoch");
  files->add_option("--checkpoint-every", c.checkpoint_every, "epochs between checkpoints")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  files->add_option("--keep", c.keep, "newest checkpoints to keep, besides the best")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  files->add_flag("--resume", c.resume, "continue from the newest checkpoint of --checkpoint")
      ->needs("--checkpoint");
  files->add_option("--log", c.log, "metrics as JSON lines");
  files->add_flag("--memory", c.memory, "show in the end how the device's memory was used");
  files->add_option("--log-every", c.log_every, "steps between lines of the log")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  add_pool(app, c.pool);
  app->footer(
      "Ctrl-C saves a checkpoint (in --checkpoint, else NET.checkpoint) and ends with status 0; a\n"
      "second Ctrl-C ends at once. --resume takes the same command again.\n\n"
      "Examples:\n"
      "  kaiseki train lenet --data digits --epochs 3\n"
      "  kaiseki train models/lenet.json --data mnist --epochs 10 --schedule cosine \\\n"
      "      --save lenet.safetensors --checkpoint runs/lenet --log runs/lenet.jsonl\n"
      "  kaiseki train models/lenet.json --data mnist --epochs 10 --schedule cosine \\\n"
      "      --save lenet.safetensors --checkpoint runs/lenet --log runs/lenet.jsonl --resume\n"
      "  kaiseki train lenet --data mnist --pool serve\n"
      "  kaiseki train models/cifar.json --data pictures.tar.gz --augment flip,crop:4 "
      "--device opencl\n"
      "  kaiseki train net.json --data pictures.tar --resize 256 --augment crop,flip \\\n"
      "      --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225");
}

void add_eval(CLI::App& root, EvalCommand& c) {
  auto* app = root.add_subcommand("eval", "Loss, top-1, top-5 and confusion matrix on a data set");
  add_network(app, c.network);
  app->add_option("--weights", c.weights, kWeightsHelp);
  add_data(app, c.data);
  app->add_option("--batch-size", c.batch_size, "samples in a batch")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_flag("--train-part", c.train_part, "use the training part of the data");
  app->add_option("--confusion", c.confusion, "write the confusion matrix as CSV");
  app->add_flag("--json", c.json, "print one JSON line");
  add_device(app, c.device);
  add_convolutions(app, c.device);
  app->footer(
      "Examples:\n"
      "  kaiseki eval lenet --weights lenet.safetensors --data mnist\n"
      "  kaiseki eval models/lenet.json --weights runs/lenet --data digits --confusion matrix.csv");
}

void add_predict(CLI::App& root, PredictCommand& c) {
  auto* app = root.add_subcommand("predict", "Classes of pictures, with probabilities");
  add_network(app, c.network);
  app->add_option("pictures", c.pictures, "PNG or JPEG files of any size")
      ->required()
      ->take_all()
      ->type_name("PICTURE");
  app->add_option("--weights", c.weights, kWeightsHelp);
  app->add_option("--top", c.top, "classes to show")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_flag("--invert", c.invert, "exchange dark and light (dark digits on white paper)");
  app->add_option("--resize", c.resize, "as in training (default: what the weights say)")
      ->check(CLI::Range(1, 16384));
  app->add_option("--mean", c.mean, "as in training (default: what the weights say)")
      ->delimiter(',')
      ->take_all();
  app->add_option("--std", c.std, "as in training (default: what the weights say)")
      ->delimiter(',')
      ->take_all();
  app->add_flag("--json", c.json, "print one JSON line for each picture");
  add_device(app, c.device);
  add_convolutions(app, c.device);
  app->footer(
      "Examples:\n"
      "  kaiseki predict lenet --weights lenet.safetensors seven.png\n"
      "  kaiseki predict models/cifar.json --weights cifar.safetensors --top 5 *.jpg\n"
      "  kaiseki predict resnet.onnx --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225 cat.jpg");
}

void add_run(CLI::App& root, RunCommand& c) {
  auto* app = root.add_subcommand("run", "Forward and backward on tensors in .npy files");
  add_network(app, c.network);
  app->add_option("--weights", c.weights, kWeightsHelp);
  app->add_option("--input", c.inputs, "x.npy, or NAME=x.npy for each of several inputs")
      ->required()
      ->take_all();
  app->add_option("--output", c.outputs, "y.npy, or NAME=y.npy for each of several outputs")
      ->required()
      ->take_all();
  auto* grad =
      app->add_option("--grad-output", c.grad_output, "gradient of the output: go backward");
  app->add_option("--grads", c.grads,
                  "folder for input.npy and a gradient for each parameter (a / in its name: %2F)")
      ->needs(grad);
  grad->needs("--grads");
  app->add_option("--phase", c.phase, "test or train")
      ->capture_default_str()
      ->check(CLI::IsMember({"test", "train"}));
  app->add_option("--seed", c.seed, "of weights that are not given, and of dropout")
      ->capture_default_str();
  add_device(app, c.device);
  add_convolutions(app, c.device);
  app->footer(
      "Examples:\n"
      "  kaiseki run net.json --weights w.safetensors --input x.npy --output y.npy\n"
      "  kaiseki run net.json --weights w.safetensors --input x.npy --output y.npy --phase train "
      "\\\n"
      "      --grad-output gy.npy --grads gradients");
}

void add_export(CLI::App& root, ExportCommand& c) {
  auto* app = root.add_subcommand(
      "export", "Write a network with its weights as ONNX, or its weights in another format");
  add_network(app, c.network);
  app->add_option("--weights", c.weights, kWeightsHelp);
  app->add_option("--output", c.output,
                  ".onnx: the network and its weights; .safetensors, .json, .tar: the weights")
      ->required();
  app->footer(
      "Examples:\n"
      "  kaiseki export lenet --weights lenet.safetensors --output lenet.onnx\n"
      "  kaiseki export resnet.onnx --output resnet.safetensors");
}

void add_bench(CLI::App& root, BenchCommand& c) {
  auto* app = root.add_subcommand("bench", "Measure, one JSON line a case");
  app->add_option("what", c.what, "gemm, conv, train or data")
      ->required()
      ->check(CLI::IsMember({"gemm", "conv", "train", "data"}));
  app->add_option("cases", c.cases,
                  "gemm: MxNxK; conv: n16c64h56w56k128r3s3p1; train: networks (default: a choice); "
                  "data: sets of pictures")
      ->take_all();
  app->add_option("--batch-size", c.batch_size, "train, data: samples in a minibatch")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--repeat", c.repeat, "runs of each case; the median counts")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--seconds", c.seconds, "length of a run")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  add_device(app, c.device);
  add_convolutions(app, c.device);
  app->footer(
      "Examples:\n"
      "  kaiseki bench gemm 1000x1000x1000 --threads 1\n"
      "  kaiseki bench conv n64c20h12w12k50r5s5 --device opencl\n"
      "  kaiseki bench train lenet cifar --batch-size 64\n"
      "  kaiseki bench data pictures.tar --threads 2");
}

void add_serve(CLI::App& root, ServeCommand& c) {
  auto* app = root.add_subcommand(
      "serve", "Coordinate a pool: hand tickets to the nodes that join, and keep the results");
  app->add_option("--host", c.host, "address to listen on; beyond this machine only with TLS")
      ->capture_default_str();
  app->add_option("--port", c.port, "0: any that is free")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  app->add_option("--tls-cert", c.certificate, "certificate chain in PEM format");
  app->add_option("--tls-key", c.key, "its private key in PEM format");
  app->add_option("--name", c.names, "a further host name by which requests may call it")
      ->take_all();
  app->add_option("--origin", c.origins,
                  "a further origin of pages that may join, such as https://example.org")
      ->take_all();
  app->add_option("--web", c.web,
                  "folder of pages to serve, or `none` (default: those built into this command)")
      ->type_name("DIR");
  app->add_option("--state", c.state,
                  "folder of tickets, results and tokens (default: KAISEKI_STATE_DIR)");
  app->add_option("--log", c.log, "events as JSON lines (default: standard error)");
  app->add_flag("--trust-proxy", c.trust_proxy,
                "requests from this machine are a proxy's: whose they are says X-Forwarded-For");
  app->add_option("--limit", c.limits, "NAME=NUMBER, one of docs/serve.md's limits")->take_all();
  app->footer(
      "Ctrl-C or SIGTERM: gives out no more work, waits for what is being computed, ends.\n\n"
      "Examples:\n"
      "  kaiseki serve\n"
      "  kaiseki serve --web none\n"
      "  kaiseki serve --host 0.0.0.0 --port 8443 --tls-cert cert.pem --tls-key key.pem \\\n"
      "      --name pool.example.org --web build/wasm/page");
}

void add_join(CLI::App& root, JoinCommand& c) {
  auto* app = root.add_subcommand("join", "Compute tickets of a coordinator");
  app->add_option("url", c.url, "of the coordinator, such as http://127.0.0.1:8080")
      ->required()
      ->type_name("URL");
  app->add_option("--token-file", c.token_file,
                  "the coordinator's token for nodes (default: that of KAISEKI_STATE_DIR)");
  app->add_option("--tls-ca", c.certificates,
                  "certificates to trust, in PEM format (default: the system's)");
  app->add_option("--name", c.name, "shown to the operator (default: this machine's)");
  app->add_option("--jobs", c.jobs, "tickets computed at once (default: one for each thread)")
      ->check(CLI::Range(1, 1024));
  app->add_option("--gflops", c.gflops, "this device's speed (default: measured for 2 s)")
      ->check(CLI::PositiveNumber);
  add_device(app, c.device);
  add_convolutions(app, c.device);
  app->footer(
      "Ctrl-C or SIGTERM: gives back the tickets that are not done, ends.\n\n"
      "Examples:\n"
      "  kaiseki join http://127.0.0.1:8080\n"
      "  kaiseki join https://pool.example.org --token-file node.token --jobs 4");
}

}  // namespace

std::optional<Command> parse_command_line(int argc, char** argv) {
  CLI::App root("Kaiseki trains neural networks on any OpenCL GPU and any CPU.", "kaiseki");
  root.set_version_flag("--version", "kaiseki " KAISEKI_VERSION);
  root.require_subcommand(1);
  root.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  root.footer(
      "`kaiseki COMMAND --help` shows a command's options and examples.\n"
      "Status: 0 when all is well, else 1 and one line that says what was expected.");

  DevicesCommand devices;
  auto* devices_app = root.add_subcommand("devices", "The devices of this machine");
  devices_app->add_flag("--json", devices.json, "one JSON line a device");
  devices_app->footer("Examples:\n  kaiseki devices\n  KAISEKI_DEVICE_MEMORY=512M kaiseki devices");
  TrainCommand train;
  add_train(root, train);
  EvalCommand eval;
  add_eval(root, eval);
  PredictCommand predict;
  add_predict(root, predict);
  RunCommand run;
  add_run(root, run);
  SummaryCommand summary;
  auto* summary_app =
      root.add_subcommand("summary", "Every layer's output shape, parameters, work and memory");
  add_network(summary_app, summary.network);
  summary_app->add_option("--batch-size", summary.batch_size, "samples in a batch")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  summary_app->add_flag("--json", summary.json, "one JSON line a layer");
  summary_app->footer(
      "Examples:\n  kaiseki summary lenet\n  kaiseki summary resnet.onnx\n"
      "  kaiseki summary models/cifar.json --batch-size 64");
  TuneCommand tune;
  add_tune(root, tune);
  ExportCommand exported;
  add_export(root, exported);
  BenchCommand bench;
  add_bench(root, bench);
  ServeCommand serve;
  add_serve(root, serve);
  JoinCommand join;
  add_join(root, join);

  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& success) {
    root.exit(success);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::string command = "kaiseki";
    for (const CLI::App* chosen : root.get_subcommands()) command += " " + chosen->get_name();
    throw Error("command line: " + text + "; see " + command + " --help");
  }
  const std::string name = root.get_subcommands().front()->get_name();
  if (name == "devices") return devices;
  if (name == "train") return train;
  if (name == "eval") return eval;
  if (name == "predict") return predict;
  if (name == "run") return run;
  if (name == "summary") return summary;
  if (name == "tune") return tune;
  if (name == "export") return exported;
  if (name == "serve") return serve;
  if (name == "join") return join;
  return bench;
}

}  // namespace kaiseki::cli
