// SPDX-License-Identifier: MIT
// PoolNode: a node of the pool, in a page or in Node. It connects to the coordinator (docs/protocol.md) and passes
// tickets to runners. Code of tasks never runs in this thread.

import { decodeFrame, encodeFrame } from './frame.js';
import { countSamples, ticketMemory, trainingFunction } from './training.js';

const firstDelay = 0.5; // in seconds
const defaultMemory = 2 ** 28; // of a ticket, in bytes
const unknownMemory = 2 ** 30; // of a node
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * A task's job has `module` and `code`, a training job has `function`. `memory` is in bytes. With `measure` seconds the
 * job returns GFLOP/s.
 * @typedef {{
 *   module?: string, code?: Uint8Array, function?: string, input?: Uint8Array, blobs?: Uint8Array[], memory?: number,
 *   measure?: number,
 * }} Job
 */
/**
 * Computes jobs, one at a time. With `again`, stop() is followed by other jobs.
 * @typedef {{ run(job: Job): Promise<Uint8Array | number>, stop(again?: boolean): void }} TaskRunner
 */
/** @typedef {{ name: string, device: string, threads: number, gflops: number, memory_bytes?: number }} NodeInfo */
/**
 * connect() opens a socket to the coordinator, and fetchBlob(hash) downloads a blob. `runners` compute modules, `trainers`
 * compute training. `identity` is that of an earlier connection. After `silence` seconds without a message the
 * coordinator counts as dead. Between two attempts to connect are at most `longestDelay` seconds. If maySend(bytes) is
 * false, the ticket is given back instead of a result of this many bytes.
 * @typedef {{
 *   connect(): WebSocket, fetchBlob(hash: string): Promise<Uint8Array>, runners: TaskRunner[], trainers?: TaskRunner[],
 *   info: NodeInfo, identity?: { node?: string, key?: string }, longestDelay?: number, silence?: number,
 *   maySend?(bytes: number): boolean,
 *   onEvent?(name: string, details: Record<string, any>): void,
 * }} NodeOptions
 */

export class PoolNode {
  /** @param {NodeOptions} options */
  constructor({
    connect,
    fetchBlob,
    runners,
    trainers = [],
    info,
    identity = {},
    longestDelay = 30,
    silence = 60,
    maySend = () => true,
    onEvent = () => {},
  }) {
    Object.assign(this, { connect, fetchBlob, longestDelay, silence, maySend, onEvent });
    this.modules = { runners, idle: [...runners], busy: 0 };
    this.configure({ trainers, info });
    this.threads = Math.max(runners.length, trainers.length); // the largest number of tickets that run at once
    this.jobs = new Map(); // ticket -> {token, task, maxResultBytes, runner?, result?, samples?}
    this.queue = []; // tickets that no runner has started
    this.memory = 0; // of the running tickets, in bytes
    this.identity = { ...identity };
    this.delay = firstDelay;
    this.stopping = false;
    this.welcomed = false;
    this.counts = { accepted: 0, refused: 0, failed: 0 };
  }

  configure({ trainers, info }) {
    this.info = info;
    this.functions = trainers.length > 0 ? [trainingFunction] : [];
    this.training = { runners: trainers, idle: [...trainers], busy: 0 };
  }

  /**
   * Connects. Resolves to the counts when the node has stopped.
   * @returns {Promise<{ accepted: number, refused: number, failed: number }>}
   */
  start() {
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
    this.open();
    return this.ended;
  }

  /**
   * Limits the number of runners that compute at once. With 0 all stop, and their tickets are given back.
   * @param {number} threads
   */
  setThreads(threads) {
    this.threads = threads;
    if (this.welcomed) this.send('ready', 0, { slots: this.slots() });
    if (threads === 0) this.giveBackUnfinished();
    this.startJobs();
  }

  /**
   * Changes the trainers and the speed. Gives back unfinished tickets and connects again with a new hello.
   * @param {{ trainers: TaskRunner[], info: NodeInfo }} ability
   */
  announce({ trainers, info }) {
    this.giveBackUnfinished();
    this.configure({ trainers, info });
    if (this.socket?.readyState !== 1) return; // the next hello has the new values
    this.detach().close();
    this.open();
  }

  slots() {
    return this.stopping ? 0 : 2 * this.threads;
  }

  /** Whether a ticket has no result yet. */
  isBusy() {
    return [...this.jobs.values()].some((job) => !job.result);
  }

  giveBackUnfinished() {
    this.queue.length = 0;
    for (const [ticket, job] of [...this.jobs]) if (!job.result) this.giveBack(ticket);
    this.stopRunners();
  }

  stopRunners() {
    for (const runner of [...this.modules.runners, ...this.training.runners]) runner.stop();
  }

  /**
   * Gives back unfinished tickets. Ends when the coordinator has answered all results, or after `seconds`.
   * @param {number} [seconds]
   * @returns {Promise<unknown>}
   */
  stop(seconds = 3) {
    if (this.stopping) return this.ended;
    this.stopping = true;
    clearTimeout(this.timer);
    if (this.welcomed) this.send('ready', 0, { slots: 0 });
    this.giveBackUnfinished();
    const limit = setTimeout(() => this.finish(), 1000 * seconds);
    this.ended.then(() => clearTimeout(limit));
    this.finishIfDone();
    return this.ended;
  }

  open() {
    const socket = this.connect();
    this.socket = socket;
    this.messageSeen = true;
    this.watch = setInterval(() => this.checkSilence(), (1000 * this.silence) / 2);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () =>
      this.send('hello', 0, { ...this.info, functions: this.functions, modules: true, ...this.identity });
    socket.onmessage = ({ data }) => socket === this.socket && this.receive(new Uint8Array(data));
    // After an error, Node does not always emit close.
    socket.onerror = () => this.closed(socket, 1006, 'no connection');
    socket.onclose = ({ code, reason }) => this.closed(socket, code, reason);
  }

  /**
   * Detects a dead coordinator. No event reports one, so silence is measured: after half of the limit the node sends an
   * echo.
   */
  checkSilence() {
    if (this.messageSeen) {
      this.messageSeen = false;
      if (this.welcomed) this.send('echo', 0, {});
      return;
    }
    const { socket } = this;
    this.closed(socket, 1006, 'silence');
    socket.close();
  }

  receive(message) {
    this.messageSeen = true;
    let frame;
    try {
      frame = decodeFrame(message);
    } catch (error) {
      return this.onEvent('bad_frame', { error: error.message });
    }
    if (frame.type === 'welcome') return this.welcome(frame.control);
    if (frame.type === 'ticket' || frame.type === 'verdict') this.delay = firstDelay; // the connection works
    if (frame.type === 'ticket') return this.acceptTicket(frame);
    if (frame.type === 'verdict') return this.verdict(frame);
    if (frame.type === 'error') return this.onEvent('refused', frame.control);
    if (frame.type === 'cancel') return this.cancel(frame.ticket);
    if (frame.type === 'drain') for (const job of this.queue.splice(0)) this.giveBack(job.ticket);
  }

  welcome({ node, key }) {
    this.identity = { node, key };
    this.welcomed = true;
    this.onEvent('joined', { node });
    for (const [ticket, { token, result }] of this.jobs) if (result) this.send('result', ticket, { token }, result);
    this.send('ready', 0, { slots: this.slots() });
  }

  acceptTicket({ ticket, control, payload }) {
    const running = this.jobs.get(ticket);
    if (running) {
      running.token = control.token;
      if (running.result) this.send('result', ticket, { token: running.token }, running.result);
      return;
    }
    this.jobs.set(ticket, {
      token: control.token,
      task: control.task,
      maxResultBytes: control.max_result_bytes ?? Infinity,
    });
    if (this.slots() === 0) return this.giveBack(ticket);
    const memory = control.memory_bytes ?? defaultMemory,
      most = ticketMemory(this.nodeMemory());
    if (memory > most)
      return this.giveBack(ticket, `expected a ticket with at most ${most} bytes (memory_bytes), got ${memory}`);
    const job = { ticket, blobs: control.blobs ?? [], input: payload.slice(), memory };
    if (this.functions.includes(control.function)) this.queue.push({ ...job, function: control.function });
    else if (control.module) this.queue.push({ ...job, module: control.module });
    else return this.giveBack(ticket, 'this node has no such function');
    this.startJobs();
  }

  nodeMemory() {
    return this.info.memory_bytes || unknownMemory;
  }

  /** A ticket takes at most a quarter of the memory. Several take at most half of it. */
  startJobs() {
    for (const job of [...this.queue]) {
      const [group, other] = job.function ? [this.training, this.modules] : [this.modules, this.training];
      if (other.busy > 0) break; // training uses all threads
      if (group.idle.length === 0 || group.busy >= this.threads) continue;
      if (this.memory + job.memory > this.nodeMemory() / 2) continue;
      const runner = group.idle.pop();
      this.memory += job.memory;
      ++group.busy;
      this.queue.splice(this.queue.indexOf(job), 1);
      this.compute(runner, job).finally(() => {
        group.idle.push(runner);
        --group.busy;
        this.memory -= job.memory;
        this.startJobs();
      });
    }
  }

  async compute(runner, { ticket, blobs, ...work }) {
    const job = this.jobs.get(ticket); // a new lease of this ticket makes a new job
    const isCurrent = () => this.jobs.get(ticket) === job;
    try {
      const code = work.module && (await this.fetchBlob(work.module));
      const inputs = await Promise.all(blobs.map((hash) => this.fetchBlob(hash)));
      if (!isCurrent()) return;
      if (work.module) job.runner = runner;
      const value = await runner.run({ ...work, code, blobs: inputs });
      if (!isCurrent()) return;
      const result = typeof value === 'string' ? encoder.encode(value) : value;
      if (result.byteLength > job.maxResultBytes)
        throw new Error(
          `expected a result of at most ${job.maxResultBytes} bytes (max_result_bytes), got ${result.byteLength}`,
        );
      if (!this.maySend(result.byteLength)) return this.giveBack(ticket);
      job.result = result;
      this.send('result', ticket, { token: job.token }, job.result);
      if (work.function) job.samples = countSamples({ ...work, blobs: inputs });
    } catch (error) {
      if (!isCurrent()) return;
      ++this.counts.failed;
      this.onEvent('ticket_failed', { ticket, error: error.message });
      this.giveBack(ticket, error.message);
    }
  }

  giveBack(ticket, error) {
    const job = this.jobs.get(ticket);
    if (!job) return;
    this.jobs.delete(ticket);
    // Encoding replaces a surrogate that slice() cut in half.
    const text = error && decoder.decode(encoder.encode(String(error).slice(0, 1000)));
    this.send('give_back', ticket, text ? { token: job.token, error: text } : { token: job.token });
  }

  /**
   * Gives the ticket back and stops a module's runner. A trainer keeps running, because its cached data is worth more
   * than the rest of the step.
   */
  cancel(ticket) {
    const job = this.jobs.get(ticket);
    if (!job || job.result) return; // the coordinator will send the verdict
    this.queue = this.queue.filter((one) => one.ticket !== ticket);
    this.giveBack(ticket);
    job.runner?.stop(true);
  }

  verdict({ ticket, control }) {
    const { task, samples } = this.jobs.get(ticket) ?? {};
    this.jobs.delete(ticket);
    if (control.verdict === 'refused') {
      ++this.counts.refused;
      this.onEvent('result_refused', { ticket, reason: control.reason });
    } else {
      if (control.verdict === 'accepted') ++this.counts.accepted;
      this.onEvent('result', { ticket, task, samples, verdict: control.verdict });
    }
    this.finishIfDone();
  }

  closed(socket, code, reason) {
    if (socket !== this.socket) return;
    const wasWelcomed = this.welcomed;
    this.detach();
    if (code === 1008 && !wasWelcomed && this.identity.node) {
      // The coordinator does not know this node: connect as a new node.
      this.identity = {};
      this.jobs.clear();
      this.queue.length = 0;
      this.stopRunners();
    }
    // The connection's end ends all leases, so tickets that have not started go to other nodes.
    for (const { ticket } of this.queue.splice(0)) this.jobs.delete(ticket);
    // a result was too large
    if (code === 1009) for (const [ticket, { result }] of [...this.jobs]) if (result) this.jobs.delete(ticket);
    if (this.stopping) return this.finish();
    const seconds = this.delay * (0.5 + Math.random() / 2);
    this.delay = Math.min(this.longestDelay, 2 * this.delay);
    this.timer = setTimeout(() => this.open(), 1000 * seconds);
    this.onEvent('waiting', { code, reason, seconds }); // the handler may call stop()
  }

  /** Returns the socket and detaches from it. */
  detach() {
    const { socket } = this;
    this.socket = undefined;
    this.welcomed = false;
    clearInterval(this.watch);
    return socket;
  }

  finishIfDone() {
    if (this.stopping && (this.jobs.size === 0 || !this.welcomed)) this.finish();
  }

  finish() {
    this.detach()?.close();
    this.end(this.counts);
  }

  send(type, ticket, control, payload) {
    if (this.socket?.readyState === 1) this.socket.send(encodeFrame({ type, ticket, control, payload }));
  }
}
