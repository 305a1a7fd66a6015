// SPDX-License-Identifier: MIT
// PoolNode: a node of the pool, in a page or in Node. It talks to the coordinator (docs/protocol.md) and hands tickets to
// runners; code of tasks never runs here.

import {decodeFrame, encodeFrame} from './frame.js';
import {samplesOf, trainingFunction} from './training.js';

const firstWait = 0.5; // seconds
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * options: connect() gives a WebSocket, fetchBlob(hash) a Promise of its bytes; runners: [{run(job), stop()}] of modules,
 * trainers: the same of training, if it can; info: {name, device, threads, gflops}; longestWait: seconds;
 * silence: seconds without a sign of life, after which the coordinator is dead (half way it is asked for one);
 * onEvent(name, details).
 */
export class PoolNode {
  constructor({connect, fetchBlob, runners, trainers = [], info, longestWait = 30, silence = 60,
               onEvent = () => {}}) {
    Object.assign(this, {connect, fetchBlob, longestWait, silence, onEvent});
    this.modules = {runners, idle: [...runners], busy: 0};
    this.become({trainers, info});
    this.threads = Math.max(runners.length, trainers.length); // tickets at once
    this.jobs = new Map(); // ticket -> {token, task, most, runner? of a module, result?, samples?: that it trained on}
    this.queue = []; // of tickets that no runner has begun
    this.identity = {};
    this.wait = firstWait;
    this.stopping = false;
    this.welcomed = false;
    this.counts = {accepted: 0, refused: 0, failed: 0};
  }

  become({trainers, info}) {
    this.info = info;
    this.functions = trainers.length > 0 ? [trainingFunction] : [];
    this.training = {runners: trainers, idle: [...trainers], busy: 0};
  }

  start() {
    this.ended = new Promise((resolve) => { this.end = resolve; });
    this.open();
    return this.ended;
  }

  /** From now on at most `threads` runners compute at once. With 0 they stop at once, and what is not done goes back. */
  use(threads) {
    this.threads = threads;
    if (this.welcomed) this.send('ready', 0, {slots: this.slots()});
    if (threads === 0) this.abandon();
    this.begin();
  }

  /** Has other trainers or another speed from now on. What is not done goes back, and it says hello anew. */
  announce({trainers, info}) {
    this.abandon();
    this.become({trainers, info});
    if (this.socket?.readyState !== 1) return; // the next hello says it
    this.leave().close();
    this.open();
  }

  slots() {
    return this.stopping ? 0 : 2 * this.threads;
  }

  abandon() {
    this.queue.length = 0;
    for (const [ticket, job] of [...this.jobs]) if (!job.result) this.giveBack(ticket);
    this.stopRunners();
  }

  stopRunners() {
    for (const runner of [...this.modules.runners, ...this.training.runners]) runner.stop();
  }

  /** Gives back what is not done, and ends when the coordinator has answered the rest, or after `seconds`. */
  stop(seconds = 3) {
    if (this.stopping) return this.ended;
    this.stopping = true;
    clearTimeout(this.timer);
    if (this.welcomed) this.send('ready', 0, {slots: 0});
    this.abandon();
    const limit = setTimeout(() => this.finish(), 1000 * seconds);
    this.ended.then(() => clearTimeout(limit));
    this.finishIfDone();
    return this.ended;
  }

  open() {
    const socket = this.connect();
    this.socket = socket;
    this.heard = true;
    this.watch = setInterval(() => this.look(), 1000 * this.silence / 2);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => this.send('hello', 0, {
      ...this.info, functions: this.functions, modules: true, cancels: true, ...this.identity});
    socket.onmessage = ({data}) => socket === this.socket && this.receive(new Uint8Array(data));
    // Node does not always say close after an error.
    socket.onerror = () => this.closed(socket, 1006, 'no connection');
    socket.onclose = ({code, reason}) => this.closed(socket, code, reason);
  }

  /** A silence may be the coordinator's death, which no event tells. */
  look() {
    if (this.heard) {
      this.heard = false;
      if (this.welcomed) this.send('echo', 0, {});
      return;
    }
    const {socket} = this;
    this.closed(socket, 1006, 'silence');
    socket.close();
  }

  receive(message) {
    this.heard = true;
    let frame;
    try {
      frame = decodeFrame(message);
    } catch (error) {
      return this.onEvent('bad_frame', {error: error.message});
    }
    if (frame.type === 'welcome') return this.welcome(frame.control);
    if (frame.type === 'ticket' || frame.type === 'verdict') this.wait = firstWait; // the connection is of use
    if (frame.type === 'ticket') return this.take(frame);
    if (frame.type === 'verdict') return this.verdict(frame);
    if (frame.type === 'error') return this.onEvent('refused', frame.control);
    if (frame.type === 'cancel') return this.cancel(frame.ticket);
    if (frame.type === 'drain') for (const job of this.queue.splice(0)) this.giveBack(job.ticket);
  }

  welcome({node, key}) {
    this.identity = {node, key};
    this.welcomed = true;
    this.onEvent('joined', {node});
    for (const [ticket, {token, result}] of this.jobs) if (result) this.send('result', ticket, {token}, result);
    this.send('ready', 0, {slots: this.slots()});
  }

  take({ticket, control, payload}) {
    const known = this.jobs.get(ticket);
    if (known) {
      known.token = control.token;
      if (known.result) this.send('result', ticket, {token: known.token}, known.result);
      return;
    }
    this.jobs.set(ticket, {token: control.token, task: control.task, most: control.max_result_bytes ?? Infinity});
    if (this.slots() === 0) return this.giveBack(ticket);
    const job = {ticket, blobs: control.blobs ?? [], input: payload.slice()};
    if (this.functions.includes(control.function)) this.queue.push({...job, function: control.function});
    else if (control.module) this.queue.push({...job, module: control.module});
    else return this.giveBack(ticket, 'no module for this node');
    this.begin();
  }

  begin() {
    for (const job of [...this.queue]) {
      const [mine, other] = job.function ? [this.training, this.modules] : [this.modules, this.training];
      if (other.busy > 0) break; // training uses all threads
      if (mine.idle.length === 0 || mine.busy >= this.threads) continue;
      const runner = mine.idle.pop();
      ++mine.busy;
      this.queue.splice(this.queue.indexOf(job), 1);
      this.compute(runner, job).finally(() => {
        mine.idle.push(runner);
        --mine.busy;
        this.begin();
      });
    }
  }

  async compute(runner, {ticket, blobs, ...work}) {
    const job = this.jobs.get(ticket); // another lease of the same ticket, or another coordinator's, is another job
    const ours = () => this.jobs.get(ticket) === job;
    try {
      const code = work.module && await this.fetchBlob(work.module);
      const inputs = await Promise.all(blobs.map((hash) => this.fetchBlob(hash)));
      if (!ours()) return;
      if (work.module) job.runner = runner;
      const value = await runner.run({...work, code, blobs: inputs});
      if (!ours()) return;
      const result = typeof value === 'string' ? encoder.encode(value) : value;
      if (result.byteLength > job.most)
        throw new Error(`expected a result of at most ${job.most} bytes (max_result_bytes), got ${result.byteLength}`);
      job.result = result;
      this.send('result', ticket, {token: job.token}, job.result);
      if (work.function) job.samples = samplesOf({...work, blobs: inputs});
    } catch (error) {
      if (!ours()) return;
      ++this.counts.failed;
      this.onEvent('ticket_failed', {ticket, error: error.message});
      this.giveBack(ticket, error.message);
    }
  }

  giveBack(ticket, error) {
    const job = this.jobs.get(ticket);
    if (!job) return;
    this.jobs.delete(ticket);
    // The cut may leave half a character.
    const text = error && decoder.decode(encoder.encode(String(error).slice(0, 1000)));
    this.send('give_back', ticket, text ? {token: job.token, error: text} : {token: job.token});
  }

  /** A trainer goes on: what it keeps is worth more than the rest of a step. */
  cancel(ticket) {
    const job = this.jobs.get(ticket);
    if (!job || job.result) return; // the verdict is on its way
    this.queue = this.queue.filter((one) => one.ticket !== ticket);
    this.giveBack(ticket);
    job.runner?.stop(true);
  }

  verdict({ticket, control}) {
    const {task, samples} = this.jobs.get(ticket) ?? {};
    this.jobs.delete(ticket);
    if (control.verdict === 'refused') {
      ++this.counts.refused;
      this.onEvent('result_refused', {ticket, reason: control.reason});
    } else {
      if (control.verdict === 'accepted') ++this.counts.accepted;
      this.onEvent('result', {ticket, task, samples, verdict: control.verdict});
    }
    this.finishIfDone();
  }

  closed(socket, code, reason) {
    if (socket !== this.socket) return;
    const known = this.welcomed;
    this.leave();
    if (code === 1008 && !known && this.identity.node) { // it does not know us any more: begin anew
      this.identity = {};
      this.jobs.clear();
      this.queue.length = 0;
      this.stopRunners();
    }
    // Leases end with the connection: what nobody began may go to others.
    for (const {ticket} of this.queue.splice(0)) this.jobs.delete(ticket);
    if (code === 1009) for (const [ticket, {result}] of [...this.jobs]) if (result) this.jobs.delete(ticket); // too large
    if (this.stopping) return this.finish();
    const seconds = this.wait * (0.5 + Math.random() / 2);
    this.wait = Math.min(this.longestWait, 2 * this.wait);
    this.timer = setTimeout(() => this.open(), 1000 * seconds);
    this.onEvent('waiting', {code, reason, seconds}); // who hears it may stop
  }

  /** The socket, which is not heard any more. */
  leave() {
    const {socket} = this;
    this.socket = undefined;
    this.welcomed = false;
    clearInterval(this.watch);
    return socket;
  }

  finishIfDone() {
    if (this.stopping && (this.jobs.size === 0 || !this.welcomed)) this.finish();
  }

  finish() {
    this.leave()?.close();
    this.end(this.counts);
  }

  send(type, ticket, control, payload) {
    if (this.socket?.readyState === 1) this.socket.send(encodeFrame({type, ticket, control, payload}));
  }
}
