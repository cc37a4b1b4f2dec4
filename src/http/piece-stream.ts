/** Pieces of text -> a body that is made no faster than it is read. */

/** Nothing else ends a reader that stays connected and takes nothing: Node's own time-outs are for requests. */
export const READER_PATIENCE_MS = 60_000;

/**
 * `ready` goes first, then what `rest` gives; nothing is made ahead of the reader. When the reader goes away, `rest`
 * is ended. When `rest` throws, or the reader takes nothing for `READER_PATIENCE_MS`, the body ends in an error,
 * which `onBroken` is told.
 */
export function streamPieces(
  ready: readonly string[],
  rest: AsyncGenerator<string, void>,
  onBroken: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(new PieceSource(ready, rest, onBroken), {
    highWaterMark: 0,
  });
}

class PieceSource {
  readonly #ready: string[];
  readonly #rest: AsyncGenerator<string, void>;
  readonly #onBroken: (error: unknown) => void;
  #patience: NodeJS.Timeout | undefined;
  #over = false;

  constructor(
    ready: readonly string[],
    rest: AsyncGenerator<string, void>,
    onBroken: (error: unknown) => void,
  ) {
    this.#ready = [...ready];
    this.#rest = rest;
    this.#onBroken = onBroken;
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    clearTimeout(this.#patience);
    try {
      const piece = this.#ready.shift() ?? (await this.#rest.next()).value;
      if (this.#over) return;
      if (piece === undefined) controller.close();
      else {
        controller.enqueue(Buffer.from(piece));
        this.#await(controller);
      }
    } catch (error) {
      this.#breakOff(controller, error);
    }
  }

  async cancel(): Promise<void> {
    this.#over = true;
    clearTimeout(this.#patience);
    await this.#rest.return();
  }

  #await(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#patience = setTimeout(() => {
      const seconds = READER_PATIENCE_MS / 1000;
      this.#breakOff(controller, new Error(`The reader took nothing for ${seconds} s.`));
      this.#rest.return().catch(() => undefined);
    }, READER_PATIENCE_MS);
    this.#patience.unref();
  }

  #breakOff(controller: ReadableStreamDefaultController<Uint8Array>, error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#onBroken(error);
    controller.error(error);
  }
}
