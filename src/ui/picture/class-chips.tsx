import { classColour } from '../../overlay/class-colour.js';
import type { BoxFilter } from './box-filter.js';
import { Button } from '../parts/button.js';
import { grouped, visible } from '../text/format.js';

/** One switch per class. */
export function ClassChips({ filter: { counts, hidden, toggleClass } }: { filter: BoxFilter }) {
  return (
    <ul class="chips" aria-label="Classes">
      {counts.value.map(({ name, shown }) => (
        <li key={name}>
          <Button
            class="chip"
            aria-pressed={!hidden.value.has(name)}
            onClick={() => toggleClass(name)}
          >
            <Swatch name={name} />
            <span class="chip-name">{visible(name)}</span>
            <span class="chip-count">{grouped(shown)}</span>
          </Button>
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
