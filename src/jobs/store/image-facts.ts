/**
 * What a page of a job shows and filters by, kept beside the outcomes: these are long, and a job may have a million of
 * them. `image_facts` has a narrow row per image with an outcome, `job_boxes` a row per class and step of confidence.
 */
import { CONFIDENCE_STEPS, type ImageOutcome } from '../job.js';
import { taskId } from '../job-records.js';
import type { Statements } from './statements.js';

/** Around each class in `image_facts.classes`, so that one is found whole. */
export const CLASS_MARK = '\n';

const LAST_STEP = CONFIDENCE_STEPS - 1;

/** The boxes of several images are added up first: most fall into few classes and steps. */
export class ImageFacts {
  readonly #statements: Statements;
  readonly #jobNumber: number;
  readonly #boxes = new Map<string, number[]>();

  constructor(statements: Statements, jobNumber: number) {
    this.#statements = statements;
    this.#jobNumber = jobNumber;
  }

  /** `outcome`: JSON of an `ImageOutcome`. Call `save` after the last one. */
  add(index: number, outcome: string): void {
    const image = JSON.parse(outcome) as ImageOutcome;
    const detections = image.status === 'ok' ? image.detections : [];
    const classes = new Set<string>();
    let weakest: number | null = null;
    for (const { class: name, confidence } of detections) {
      classes.add(name);
      weakest = Math.min(weakest ?? confidence, confidence);
      this.#count(name, Math.min(Math.floor(confidence * CONFIDENCE_STEPS), LAST_STEP));
    }
    this.#statements.run(
      'INSERT INTO image_facts (task, failed, boxes, weakest, classes) VALUES (?, ?, ?, ?, ?)',
      taskId(this.#jobNumber, index),
      image.status === 'ok' ? 0 : 1,
      detections.length,
      weakest,
      classes.size === 0 ? '' : ['', ...classes, ''].join(CLASS_MARK),
    );
  }

  save(): void {
    for (const [name, steps] of this.#boxes) {
      steps.forEach((boxes, step) => {
        this.#statements.run(
          `INSERT INTO job_boxes (job, class, step, boxes) VALUES (?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET boxes = boxes + excluded.boxes`,
          this.#jobNumber,
          name,
          step,
          boxes,
        );
      });
    }
  }

  #count(name: string, step: number): void {
    const steps = this.#boxes.get(name) ?? [];
    steps[step] = (steps[step] ?? 0) + 1;
    this.#boxes.set(name, steps);
  }
}
