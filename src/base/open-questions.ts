/**
 * Questions whose answers come later under their numbers: each is answered, or rejects at its deadline or at the end.
 */
interface Question<T> {
  resolve(answer: T): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

export class OpenQuestions<T> {
  readonly #open = new Map<number, Question<T>>();
  #last = 0;
  #end: Error | null = null;

  /** `send` gets the number. `late`: the error at the deadline. */
  ask(send: (number: number) => void, deadlineMs: number, late: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#end !== null) {
        reject(this.#end);
        return;
      }
      const number = ++this.#last;
      const timer = setTimeout(() => this.take(number)?.reject(late()), deadlineMs);
      this.#open.set(number, { resolve, reject, timer });
      send(number);
    });
  }

  /** The question to answer; undefined when it is not open any more. */
  take(number: number): Question<T> | undefined {
    const question = this.#open.get(number);
    this.#open.delete(number);
    clearTimeout(question?.timer);
    return question;
  }

  /** Rejects the open questions and all later ones. */
  end(error: Error): void {
    this.#end ??= error;
    for (const number of [...this.#open.keys()]) this.take(number)?.reject(error);
  }
}
