/** Questions and answers on one Datapath stream. */
import { setTimeout as sleep } from 'node:timers/promises';
import { OpenQuestions } from '../../base/open-questions.js';
import type { DataRequest, DataResponse, Datapath } from './ray-protocol.js';
import { NoAnswer, RayFailure, toRayFailure } from './ray-failure.js';

export class DataStream {
  readonly #stream: Datapath;
  readonly #questions = new OpenQuestions<DataResponse>();
  readonly #lost = new AbortController();

  constructor(stream: Datapath) {
    this.#stream = stream;
    stream.on('data', (response: DataResponse) => {
      this.#questions.take(response.req_id)?.resolve(response);
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
  ask(question: Omit<DataRequest, 'req_id'>, deadlineMs: number): Promise<DataResponse> {
    return this.#questions.ask(
      (id) => this.#stream.write({ req_id: id, ...question }),
      deadlineMs,
      () => new NoAnswer(deadlineMs),
    );
  }

  /** Ends the questions and waits for the head to end the stream. Never rejects. */
  async end(deadlineMs: number): Promise<void> {
    this.#stream.end();
    await sleep(deadlineMs, undefined, { signal: this.lost }).catch(() => undefined);
  }

  #lose(failure: RayFailure): void {
    this.#lost.abort(failure);
    this.#questions.end(failure);
  }
}
