/**
 * Images that wait for a worker: synchronous ones apart, those of jobs by priority, each in the order of arrival.
 * An image that a worker gave back goes before the others of its priority. No operation searches the queue.
 */
import { TOP_PRIORITY } from '../api/options.js';
import type { Task } from './task.js';

export class ImageQueue {
  readonly #sync = new Line();
  readonly #async = Array.from({ length: TOP_PRIORITY + 1 }, () => new Line());

  get syncSize(): number {
    return this.#sync.size;
  }

  get asyncSize(): number {
    return this.#async.reduce((sum, line) => sum + line.size, 0);
  }

  /** `returned`: a worker had it in hand before. */
  add(task: Task, returned: boolean): void {
    this.#lineOf(task).add(task, returned);
  }

  /** Takes a waiting task out. */
  drop(task: Task): void {
    this.#lineOf(task).drop(task);
  }

  takeSync(): Task | null {
    return this.#sync.take();
  }

  /** The most urgent image of a job. */
  takeAsync(): Task | null {
    for (let level = TOP_PRIORITY; level >= 0; level -= 1) {
      const task = this.#async[level]?.take();
      if (task !== undefined && task !== null) return task;
    }
    return null;
  }

  #lineOf({ request }: Task): Line {
    const level = Math.round(Math.min(TOP_PRIORITY, Math.max(0, request.priority ?? 0)));
    return request.kind === 'sync' ? this.#sync : (this.#async[level] ?? this.#sync);
  }
}

class Line {
  readonly #returned = new Fifo();
  readonly #fresh = new Fifo();
  size = 0;

  add(task: Task, returned: boolean): void {
    task.waiting = true;
    this.size += 1;
    (returned ? this.#returned : this.#fresh).push(task);
  }

  /** Drops a task: it stays in the queue until its turn and is skipped then. */
  drop(task: Task): void {
    if (!task.waiting) return;
    task.waiting = false;
    this.size -= 1;
  }

  take(): Task | null {
    const task = this.#returned.shift() ?? this.#fresh.shift();
    if (task === null) return null;
    task.waiting = false;
    this.size -= 1;
    return task;
  }
}

const COMPACT_AT = 512;

class Fifo {
  #tasks: Task[] = [];
  #head = 0;

  push(task: Task): void {
    this.#tasks.push(task);
  }

  /** The first that still waits. */
  shift(): Task | null {
    while (this.#head < this.#tasks.length) {
      const task = this.#tasks[this.#head];
      this.#head += 1;
      if (this.#head >= COMPACT_AT && this.#head * 2 >= this.#tasks.length) {
        this.#tasks = this.#tasks.slice(this.#head);
        this.#head = 0;
      }
      if (task?.waiting === true) return task;
    }
    this.#tasks.length = 0;
    this.#head = 0;
    return null;
  }
}
