import { percent } from '../text/format.js';
import type { BoxFilter } from './box-filter.js';
import { histogram } from './shown-boxes.js';

const PARTS = 40;

/** A threshold over the confidences that there are. */
export function ThresholdSlider({ filter }: { filter: BoxFilter }) {
  const { threshold } = filter;
  const confidences = filter.detections.value.map(({ confidence }) => confidence);
  const counts = histogram(confidences, PARTS);
  const most = Math.max(1, ...counts);
  return (
    <div class="threshold">
      <svg viewBox={`0 0 ${PARTS} 10`} preserveAspectRatio="none" aria-hidden="true">
        {counts.map((count, part) => (
          <rect
            key={part}
            class={(part + 0.5) / PARTS >= threshold.value ? 'in' : 'out'}
            x={part + 0.1}
            y={10 - (10 * count) / most}
            width="0.8"
            height={(10 * count) / most}
          />
        ))}
      </svg>
      <ThresholdRange choice={filter} />
    </div>
  );
}

type ThresholdChoice = Pick<BoxFilter, 'threshold' | 'floor' | 'setThreshold'>;

export function ThresholdRange({
  choice: { threshold, floor, setThreshold },
}: {
  choice: ThresholdChoice;
}) {
  return (
    <label>
      <span class="panel-title">
        Confidence at least <b>{percent(threshold.value)}</b>
      </span>
      <input
        type="range"
        min="0"
        max="100"
        step="1"
        value={Math.round(threshold.value * 100)}
        onInput={({ currentTarget }) => {
          setThreshold(Math.max(floor.peek(), currentTarget.valueAsNumber / 100));
          currentTarget.value = String(Math.round(threshold.peek() * 100));
        }}
      />
    </label>
  );
}
