import type { ReadonlySignal } from '@preact/signals';
import { grouped, visible } from '../text/format.js';
import { classColour } from '../../overlay/class-colour.js';

export interface ClassCount {
  name: string;
  /** With the other filters. */
  shown: number;
}

interface ClassChipsProps {
  counts: ReadonlySignal<readonly ClassCount[]>;
  /** Names that are switched off. */
  hidden: ReadonlySignal<ReadonlySet<string>>;
  onToggle: (name: string) => void;
}

/** One switch per class. */
export function ClassChips({ counts, hidden, onToggle }: ClassChipsProps) {
  return (
    <ul class="chips" aria-label="Classes">
      {counts.value.map(({ name, shown }) => (
        <li key={name}>
          <button
            type="button"
            class="chip"
            aria-pressed={!hidden.value.has(name)}
            onClick={() => {
              onToggle(name);
            }}
          >
            <Swatch name={name} />
            <span class="chip-name">{visible(name)}</span>
            <span class="chip-count">{grouped(shown)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

export function Swatch({ name }: { name: string }) {
  const { colour, dashed } = classColour(name);
  return (
    <svg class="swatch" viewBox="0 0 12 12" aria-hidden="true">
      <rect
        class={dashed ? 'dashed' : ''}
        x="1"
        y="1"
        width="10"
        height="10"
        rx="2.5"
        fill={colour}
      />
    </svg>
  );
}
