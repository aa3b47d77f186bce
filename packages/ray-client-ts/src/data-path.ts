import { setTimeout as sleep } from 'node:timers/promises';
import { streamStatus } from './channel.ts';
import { type DataStream, DataWriter } from './data-writer.ts';
import { type Deferred, deferred } from './deferred.ts';
import { RayClosedError, RaySessionLostError } from './errors.ts';
import { Exchange, type Question } from './exchange.ts';
import type { DataResponse } from './protocol.ts';
import { isReconnectable, sessionLost } from './status.ts';

const ACKNOWLEDGE_EVERY = 32;
const CLOSE_TIMEOUT_MS = 5_000;
const MAX_REQ_ID = 2 ** 31 - 1;
/** The last part of the grace period is not used: the server must not have cleaned up meanwhile. */
const GRACE_MARGIN_MS = 2_000;

/** What the data path needs from its surroundings. */
export interface DataPathOptions {
  /** Opens the stream of this session, anew or again. */
  readonly open: (reconnecting: boolean) => DataStream;
  /** Resolves if a server answers at the address. */
  readonly ping: (timeoutMs: number) => Promise<void>;
  /** How long the server retains a session whose stream is gone. 0: not at all. */
  readonly graceMs: number;
  /** Size of the chunks of large questions; may change once the server's version is known. */
  readonly chunkBytes: () => number;
}

/** The stream in use. Messages of an earlier stream are ignored. */
interface Line {
  readonly stream: DataStream;
  readonly writer: DataWriter;
  /** Settles with the first reply, or rejects with the end of the stream. */
  readonly heard: Deferred<void>;
  /** True until the first reply after a reconnect. Meanwhile the reconnecting code handles the end of the stream. */
  probing: boolean;
  over: boolean;
}

/**
 * The session's bidirectional stream. Questions are sent in order and each is answered once, also across broken
 * connections. After a break within the grace period, every unanswered question is repeated under its id. The
 * server answers repeated questions from its cache.
 */
export class DataPath {
  /** Resolves with the reason once the session has ended; never rejects. */
  readonly ended: Promise<Error>;
  readonly #options: DataPathOptions;
  readonly #open = new Map<number, Exchange>();
  readonly #end = deferred<Error>();
  readonly #cancelSleep = new AbortController();
  #line: Line;
  #lastReqId = 0;
  #established = false;
  #closing = false;
  #endReason: Error | undefined;
  #unacknowledged = 0;
  #reconnects = 0;

  constructor(options: DataPathOptions) {
    this.#options = options;
    this.ended = this.#end.promise;
    this.#line = this.#connect(false);
  }

  /** How often the session was resumed after the connection broke. */
  get reconnects(): number {
    return this.#reconnects;
  }

  /** From now on a broken stream is resumed. Before, it ends the session. */
  establish(): void {
    this.#established = true;
  }

  /** Asks; the exchange's `answer` settles with the reply, or rejects when the session ends. */
  ask(question: Question): Exchange {
    const exchange = this.#enlist(question);
    if (this.#endReason !== undefined || this.#closing) {
      this.#open.delete(exchange.reqId);
      exchange.fail(this.#endReason ?? new RayClosedError());
    } else {
      this.#line.writer.enqueue(exchange);
    }
    return exchange;
  }

  #enlist(question: Question): Exchange {
    this.#lastReqId = this.#lastReqId >= MAX_REQ_ID ? 1 : this.#lastReqId + 1;
    const exchange = new Exchange(this.#lastReqId, question);
    this.#open.set(exchange.reqId, exchange);
    return exchange;
  }

  /** Tells the server to clean up at once, and ends; pending questions reject with {@link RayClosedError}. */
  async close(): Promise<void> {
    if (this.#closing || this.#endReason !== undefined) return;
    this.#closing = true;
    this.#cancelSleep.abort();
    this.#failAll(new RayClosedError());
    const { stream, writer } = this.#line;
    if (this.#line.over) return this.#finish(new RayClosedError());
    const over = new Promise<void>((resolve) => {
      stream.once('end', resolve);
      stream.once('error', () => resolve());
      stream.on('data', (response) => response.connection_cleanup && resolve());
    });
    writer.enqueue({ connection_cleanup: {} });
    const timer = new AbortController();
    await Promise.race([over, sleep(CLOSE_TIMEOUT_MS, undefined, { signal: timer.signal }).catch(() => {})]);
    timer.abort();
    stream.end();
    this.#finish(new RayClosedError());
  }

  /** Ends at once, without telling the server. */
  abort(reason: Error): void {
    this.#finish(reason);
  }

  #connect(reconnecting: boolean): Line {
    const stream = this.#options.open(reconnecting);
    const heard = deferred<void>();
    heard.promise.catch(() => {});
    const writer = new DataWriter(stream, this.#options.chunkBytes);
    const line: Line = { stream, writer, heard, probing: reconnecting, over: false };
    stream.on('data', (response) => {
      if (this.#line !== line) return;
      if (line.probing) {
        line.probing = false;
        this.#reconnects++;
      }
      heard.resolve();
      this.#receive(response);
    });
    const onOver = (error?: Error): void => {
      if (line.over) return;
      line.over = true;
      writer.stop();
      heard.reject(error ?? new RaySessionLostError('the stream ended'));
      if (this.#line === line && !line.probing) void this.#onBroken(error);
    };
    stream.on('error', onOver);
    stream.on('end', () => onOver());
    return line;
  }

  #receive(response: DataResponse): void {
    const exchange = this.#open.get(response.req_id ?? 0);
    if (exchange === undefined) return;
    if (!exchange.accept(response)) return;
    this.#open.delete(exchange.reqId);
    if (!exchange.isCached || this.#options.graceMs === 0) return;
    // Cached answers arrive in order, so everything up to this one has been handled.
    if (++this.#unacknowledged < ACKNOWLEDGE_EVERY) return;
    this.#unacknowledged = 0;
    this.#line.writer.enqueue({ req_id: 0, acknowledge: { req_id: exchange.reqId } });
  }

  async #onBroken(error: Error | undefined): Promise<void> {
    if (this.#closing || this.#endReason !== undefined) return;
    if (!this.#established) return this.#finish(sessionLost('the session did not start', error));
    if (this.#options.graceMs === 0) return this.#finish(sessionLost('the connection broke', error));
    const { graceMs } = this.#options;
    const deadline = performance.now() + Math.max(graceMs - GRACE_MARGIN_MS, graceMs / 2);
    let cause = error;
    for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, 1_000)) {
      if (cause !== undefined && !isReconnectable(streamStatus(cause))) {
        return this.#finish(sessionLost('the session is gone', cause));
      }
      if (performance.now() + delayMs >= deadline) {
        return this.#finish(
          sessionLost(`the connection broke and did not come back within ${graceMs} ms`, cause),
        );
      }
      await sleep(delayMs, undefined, { signal: this.#cancelSleep.signal }).catch(() => {});
      if (this.#closing || this.#endReason !== undefined) return;
      try {
        return await this.#resume(deadline);
      } catch (failure) {
        cause = failure as Error;
      }
    }
  }

  /** One attempt to resume the session. Rejects if it fails. */
  async #resume(deadline: number): Promise<void> {
    await this.#options.ping(Math.max(100, Math.min(5_000, deadline - performance.now())));
    if (this.#closing || this.#endReason !== undefined) return;
    for (const exchange of this.#open.values()) {
      if (exchange.abandoned && !exchange.isCached) this.#open.delete(exchange.reqId);
    }
    const line = this.#connect(true);
    this.#line = line;
    // Gets may stay unanswered for long: one other answer shows that the session is still there.
    if ([...this.#open.values()].every((exchange) => !exchange.isCached)) this.#enlist({ kind: 'info' });
    for (const exchange of this.#open.values()) line.writer.enqueue(exchange);
    const tooLate = setTimeout(() => line.stream.cancel(), Math.max(0, deadline - performance.now()));
    await line.heard.promise.finally(() => clearTimeout(tooLate));
  }

  #failAll(error: Error): void {
    for (const exchange of this.#open.values()) exchange.fail(error);
    this.#open.clear();
  }

  #finish(reason: Error): void {
    if (this.#endReason !== undefined) return;
    this.#endReason = reason;
    this.#cancelSleep.abort();
    this.#line.writer.stop();
    this.#line.stream.cancel();
    this.#failAll(reason);
    this.#end.resolve(reason);
  }
}
