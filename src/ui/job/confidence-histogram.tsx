/** How sure the boxes of a job are: one slider asks for less sure ones, another finds images with unsure ones. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { JobSummary } from '../../client/records.js';
import { classColour } from '../../overlay/class-colour.js';
import { setQuery } from '../address/location.js';
import { grouped, percent } from '../text/format.js';
import { ThresholdRange } from '../picture/threshold-slider.js';
import type { ImageFilter } from './image-filter.js';
import type { QuestionChoice } from './question-choice.js';

const HEIGHT = 40;
/** A slider moves faster than images can be asked for. */
const SETTLE_MS = 200;

export function ConfidenceHistogram({
  summary,
  filter,
  choice,
}: {
  summary: JobSummary;
  filter: ImageFilter;
  choice: QuestionChoice;
}) {
  const classes = summary.classes.filter(
    ({ class: name }) => filter.classes.length === 0 || filter.classes.includes(name),
  );
  const steps = classes[0]?.confidence_histogram.length ?? 0;
  const sums = Array.from({ length: steps }, (_, step) =>
    classes.reduce((sum, each) => sum + (each.confidence_histogram[step] ?? 0), 0),
  );
  const most = Math.max(1, ...sums);
  const [only, ...more] = filter.classes;
  const colour = only === undefined || more.length > 0 ? undefined : classColour(only).colour;
  const below = (filter.below ?? 0) / 100;
  const unsure = sums.slice(0, Math.round(below * steps)).reduce((sum, each) => sum + each, 0);
  return (
    <div class="confidences">
      <svg
        viewBox={`0 0 ${Math.max(1, steps)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Boxes by confidence, most at ${percent((sums.indexOf(most) + 0.5) / Math.max(1, steps))}`}
      >
        {sums.map((boxes, step) => (
          <rect
            key={step}
            class={step / steps < below ? 'unsure' : ''}
            x={step + 0.08}
            y={HEIGHT - (HEIGHT * boxes) / most}
            width="0.84"
            height={(HEIGHT * boxes) / most}
            style={colour === undefined ? undefined : { fill: colour }}
          />
        ))}
      </svg>
      <p class="axis" aria-hidden="true">
        <span>0 %</span>
        <span>50 %</span>
        <span>100 %</span>
      </p>
      <ThresholdRange choice={choice} />
      <BelowSlider below={filter.below} />
      {filter.below !== null && <p class="fine">{grouped(unsure)} boxes are about that unsure.</p>}
    </div>
  );
}

function BelowSlider({ below }: { below: number | null }) {
  const value = useSignal(below ?? 0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    value.value = below ?? 0;
  }, [below, value]);
  return (
    <label class="below">
      <span>
        {value.value === 0 ? 'Images with an unsure box: any' : 'Images with a box below '}
        {value.value > 0 && <b>{value.value} %</b>}
      </span>
      <input
        type="range"
        min="0"
        max="95"
        step="5"
        value={value.value}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.valueAsNumber;
          clearTimeout(timer.current);
          timer.current = setTimeout(
            () => setQuery({ below: value.peek() === 0 ? '' : String(value.peek()) }),
            SETTLE_MS,
          );
        }}
      />
    </label>
  );
}
