/**
 * Shadows: models that look at pictures that another has answered, to compare their boxes. They run one image at a
 * time, only while the service has next to nothing else to do, and what waits is dropped first. Lives on the main
 * thread.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { hasMoved } from '../api/schemas/file-read.js';
import { ERRORS, toLatticeError } from '../api/errors.js';
import type { ImageResult } from '../api/schemas/image.js';
import type { StoredAlias } from '../store/alias-rows.js';
import type { Logger } from '../base/logger-port.js';
import type { DetectRequest, Detector } from '../execution/detector.js';
import {
  AgreementWindow,
  isAlike,
  type AgreedAlias,
  type ShadowAgreement,
} from './agreement-window.js';

/** Pictures that wait for their shadow. The newest ones count: the oldest are dropped. */
const MOST_WAITING = 32;
/** Limit of the waiting pictures that were sent; those in files are read again. */
const MOST_WAITING_BYTES = 32 * 1024 * 1024;
/** The service has to be idle for so long: a caller that sends one picture after the other is served first. */
const IDLE_MS = 20;
/** Share of the images that keep the device busy; fewer are next to nothing. */
const IDLE_SHARE = 1 / 8;
const DEADLINE_MS = 30_000;

export interface ShadowParts {
  /** Knows models by their own names. */
  detector: Pick<Detector, 'detect' | 'stats'>;
  /** The alias as it is now. */
  find(name: string): StoredAlias | undefined;
  logger: Logger;
  onPicture(alias: string, outcome: ShadowOutcome): void;
}

/** `dropped`: the service was busy, or the picture was replaced. */
export type ShadowOutcome = 'compared' | 'dropped' | 'failed';

interface Waiting {
  window: AgreementWindow;
  request: DetectRequest;
  answered: ImageResult;
}

export class ShadowRuns {
  readonly #parts: ShadowParts;
  /** The windows of agreement by alias. */
  readonly #windows = new Map<string, AgreementWindow>();
  #waiting: Waiting[] = [];
  #foreground = 0;
  #lastForeground = 0;
  #isRunning = false;
  #isClosed = false;

  constructor(parts: ShadowParts) {
    this.#parts = parts;
  }

  /** An image of a request or of a job is in the detector until the returned function is called. */
  foreground(): () => void {
    this.#foreground += 1;
    return () => {
      this.#foreground -= 1;
      this.#lastForeground = performance.now();
    };
  }

  /** Runs the shadow of the alias on the same picture, now or later or never. Returns at once. */
  offer(alias: StoredAlias, request: DetectRequest, answered: ImageResult): void {
    const { shadow, model } = alias;
    // The answer of a canary says nothing about the model.
    if (shadow === null || answered.model !== model || this.#isClosed) return;
    // An answer that was begun before the alias was changed.
    if (!this.#isPresent(alias)) return;
    const options = { ...request.options, modelName: shadow };
    const { path, image, keyId } = request;
    const own = { path, options, ...(image && { image }), ...(keyId && { keyId }) };
    const window = this.#windowOf(alias);
    this.#waiting.push({ window, request: { ...own, kind: 'async', priority: 0 }, answered });
    while (this.#isOverfull()) this.#drop(this.#waiting.shift());
    if (!this.#isRunning) void this.#run();
  }

  /** Report on the alias as it is. `keyId`: whose pictures are named. */
  agreement(alias: StoredAlias, keyId: string | null): ShadowAgreement {
    return this.#windowOf(alias).report(keyId);
  }

  /** Share of the latest pictures' boxes by alias, for the metrics. */
  shares(): { alias: string; share: number }[] {
    this.#forgetEnded();
    return [...this.#windows].flatMap(([alias, { latestShare: share }]) =>
      share === null ? [] : [{ alias, share }],
    );
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
  }

  #windowOf(alias: StoredAlias): AgreementWindow {
    const known = this.#windows.get(alias.name);
    if (known !== undefined && isAlike(known.alias, alias)) return known;
    this.#forgetEnded();
    const window = new AgreementWindow(alias);
    this.#windows.set(alias.name, window);
    return window;
  }

  /** Whether the name of the alias still stands for the same two models. */
  #isPresent(alias: AgreedAlias): boolean {
    const present = this.#parts.find(alias.name);
    return present !== undefined && isAlike(present, alias);
  }

  /** Shadows that were promoted, taken away or deleted with their alias. */
  #forgetEnded(): void {
    for (const [name, { alias }] of this.#windows) {
      if (!this.#isPresent(alias)) this.#windows.delete(name);
    }
  }

  #isOverfull(): boolean {
    const bytes = this.#waiting.reduce((sum, { request }) => sum + (request.image?.length ?? 0), 0);
    return this.#waiting.length > MOST_WAITING || bytes > MOST_WAITING_BYTES;
  }

  /** Ends when none waits. Never rejects. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const waitMs = this.#untilIdle();
      if (waitMs > 0) await sleep(waitMs, undefined, { ref: false });
      else await this.#compare(this.#waiting.shift());
    }
    this.#isRunning = false;
  }

  #untilIdle(): number {
    const { suggestedWindow } = this.#parts.detector.stats();
    if (this.#foreground >= Math.max(1, suggestedWindow * IDLE_SHARE)) return IDLE_MS;
    if (this.#foreground > 0) return 0;
    return Math.ceil(this.#lastForeground + IDLE_MS - performance.now());
  }

  async #compare(waiting: Waiting | undefined): Promise<void> {
    if (waiting === undefined) return;
    const { window, request, answered } = waiting;
    const { detector, logger } = this.#parts;
    try {
      const result = await detector.detect({ ...request, deadlineMs: DEADLINE_MS });
      if (result.file && answered.file && hasMoved(result.file, answered.file)) {
        this.#drop(waiting);
        return;
      }
      const wasFlagged = window.isFlagged;
      window.add(request, answered, result);
      this.#parts.onPicture(window.alias.name, 'compared');
      if (window.isFlagged && !wasFlagged) {
        const facts = { ...window.alias, share: window.latestShare };
        logger.warn(facts, 'the boxes of a shadow differ from those of the model');
      }
    } catch (thrown) {
      const error = toLatticeError(thrown);
      if (ERRORS[error.code].unfinished === true || ERRORS[error.code].of === 'image') {
        this.#drop(waiting);
        return;
      }
      window.fail(error);
      this.#parts.onPicture(window.alias.name, 'failed');
    }
  }

  #drop(waiting: Waiting | undefined): void {
    if (waiting === undefined) return;
    waiting.window.dropped += 1;
    this.#parts.onPicture(waiting.window.alias.name, 'dropped');
  }
}
