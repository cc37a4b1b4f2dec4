/** Values of the controls of the question, which is in the address. */
import { batch, computed, type ReadonlySignal } from '@preact/signals';
import type { JobQuestion, JobStatus, JobSummary } from '../../client/records.js';
import { address, setQuery } from '../address/location.js';
import { models } from '../models/models.js';
import { offeredClasses } from '../models/offered-classes.js';
import type { BoxFilter } from '../picture/box-filter.js';
import type { Detection } from '../picture/shown-boxes.js';
import { asked as drawnRegions, showView } from '../regions/region-choice.js';
import { classChoice, OWN_QUESTION, questionOf, thresholdText } from './question.js';

interface Shown {
  job: ReadonlySignal<JobStatus | null>;
  /** The figures of the job's own question; null until they came. */
  own: ReadonlySignal<JobSummary | null>;
  /** The figures that are shown; null until they came. */
  summary: ReadonlySignal<JobSummary | null>;
}

/** The question of the address, which may not be answered yet. */
export const chosenQuestion: ReadonlySignal<JobQuestion> = computed(() =>
  questionOf(address.value.query, drawnRegions.value),
);

/** Back to what the job asked. */
export function chooseOwn(): void {
  batch(() => {
    showView('');
    setQuery({ ...OWN_QUESTION, box: '' });
  });
}

export type QuestionChoice = ReturnType<typeof questionChoice>;

export function questionChoice({ job, own, summary }: Shown) {
  const ownThreshold = computed(() => job.value?.confidence_threshold ?? 0.5);
  const floor = computed(() => own.value?.score_floor ?? ownThreshold.value);
  const threshold = computed(() => {
    const { confidence_threshold: chosen } = chosenQuestion.value;
    return typeof chosen === 'number' ? chosen : ownThreshold.value;
  });
  /** Null until the figures of the job came. */
  const classes = computed(() => {
    if (own.value === null) return null;
    return classChoice({
      own: own.value,
      shown: summary.value ?? own.value,
      asked: chosenQuestion.value.classes,
      offered: offeredClasses(models.value ?? [], own.value.request.model_name),
    });
  });
  return {
    floor,
    threshold,
    classes,
    setThreshold: (value: number): void => {
      const limits = { floor: floor.peek(), own: ownThreshold.peek() };
      // A number of a box is of the answer before.
      setQuery({ confidence_threshold: thresholdText(value, limits), box: '' });
    },
    toggleClass: (name: string): void => setQuery({ ...classes.peek()?.toggled(name), box: '' }),
  };
}

/** The boxes of one image with the controls of the question. */
export function imageFilter(
  detections: ReadonlySignal<readonly Detection[]>,
  { floor, threshold, classes, setThreshold, toggleClass }: QuestionChoice,
): BoxFilter {
  const counts = computed(() =>
    (classes.value?.listed ?? []).map(({ name }) => ({
      name,
      shown: detections.value.filter((each) => each.class === name).length,
    })),
  );
  const hidden = computed(
    () =>
      new Set(
        (classes.value?.listed ?? []).flatMap(({ name, isAsked }) => (isAsked ? [] : [name])),
      ),
  );
  const boxes = computed(() => detections.value.map((detection, id) => ({ ...detection, id })));
  return { detections, floor, threshold, hidden, boxes, counts, setThreshold, toggleClass };
}
