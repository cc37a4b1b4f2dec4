/** Calls to a worker about its models: each is answered, or rejects at its deadline or when the worker is lost. */
import type { ModelDescription } from '../../api/model.js';
import { WorkerLost } from '../worker.js';
import type { ServiceFrame, WorkerFrame } from '../wire/frames.js';

type Answer = Extract<WorkerFrame, { type: 'answer' }>;

interface Call {
  models: ModelDescription[];
  resolve(models: ModelDescription[]): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

export class Calls {
  readonly #send: (frame: ServiceFrame) => void;
  readonly #open = new Map<number, Call>();
  #last = 0;
  #over: Error | null = null;

  constructor(send: (frame: ServiceFrame) => void) {
    this.#send = send;
  }

  /** Rejects with the worker's own error, or with `WorkerLost` at the deadline and at the end. */
  ask(frameOf: (call: number) => ServiceFrame, deadlineMs: number): Promise<ModelDescription[]> {
    return new Promise((resolve, reject) => {
      if (this.#over !== null) {
        reject(this.#over);
        return;
      }
      this.#last += 1;
      const call = this.#last;
      const timer = setTimeout(() => {
        this.#open.delete(call);
        reject(new WorkerLost(`No answer within ${deadlineMs} ms.`));
      }, deadlineMs);
      timer.unref();
      this.#open.set(call, { models: [], resolve, reject, timer });
      this.#send(frameOf(call));
    });
  }

  answer({ call: number, model, error, more }: Answer): void {
    const call = this.#open.get(number);
    if (call === undefined) return;
    if (model !== undefined) call.models.push(model);
    if (more) return;
    this.#open.delete(number);
    clearTimeout(call.timer);
    if (error === undefined) call.resolve(call.models);
    else call.reject(error);
  }

  end(error: Error): void {
    this.#over = error;
    for (const call of this.#open.values()) {
      clearTimeout(call.timer);
      call.reject(error);
    }
    this.#open.clear();
  }
}
