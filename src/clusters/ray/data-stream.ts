/** Questions and answers on one Datapath stream. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataRequest, DataResponse, Datapath } from './ray-protocol.js';
import { NoAnswer, RayFailure, toRayFailure } from './ray-failure.js';

type Question = Omit<DataRequest, 'req_id'>;

interface Waiting {
  resolve: (response: DataResponse) => void;
  reject: (failure: RayFailure) => void;
  timer: NodeJS.Timeout;
}

export class DataStream {
  readonly #stream: Datapath;
  readonly #waiting = new Map<number, Waiting>();
  readonly #lost = new AbortController();
  #lastId = 0;

  constructor(stream: Datapath) {
    this.#stream = stream;
    stream.on('data', (response: DataResponse) => {
      this.#settle(response);
    });
    stream.on('error', (error: Error) => {
      this.#lose(toRayFailure(error));
    });
    stream.on('end', () => {
      this.#lose(new RayFailure('session lost, the head ended it'));
    });
  }

  /** Aborted with a `RayFailure` when the stream is gone, for whatever reason. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Rejects with a `RayFailure`: the deadline passed, or the stream is gone. */
  ask(question: Question, deadlineMs: number): Promise<DataResponse> {
    if (this.lost.aborted) return Promise.reject(toRayFailure(this.lost.reason));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new NoAnswer(deadlineMs));
      }, deadlineMs);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#stream.write({ req_id: id, ...question });
    });
  }

  /** Ends the questions and waits for the head to end the stream. Never rejects. */
  async end(deadlineMs: number): Promise<void> {
    this.#stream.end();
    await sleep(deadlineMs, undefined, { signal: this.lost }).catch(() => undefined);
  }

  #settle(response: DataResponse): void {
    const id = response.req_id;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    waiting?.resolve(response);
  }

  #lose(failure: RayFailure): void {
    this.#lost.abort(failure);
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(failure);
    }
    this.#waiting.clear();
  }
}
