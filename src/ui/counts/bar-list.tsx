/** Boxes of folders, classes or regions as bars of one length each; of two ranges beneath each other. */
import { classColour } from '../../overlay/class-colour.js';
import { Foreign } from '../parts/foreign.js';
import { grouped } from '../text/format.js';
import { rowBoxes, type CountRow, type RowPair } from './count-rows.js';

/** More of them are in the table only. */
const MOST_BARS = 50;

interface BarListProps {
  pairs: readonly RowPair[];
  titles: readonly (string | null)[];
  ticks: readonly number[];
  hidden: ReadonlySet<string>;
  isCompared: boolean;
}

export function BarList({ pairs, titles, ticks, hidden, isCompared }: BarListProps) {
  const size = ({ row, other }: RowPair): number =>
    Math.max(rowBoxes(row, hidden) ?? 0, rowBoxes(other, hidden) ?? 0);
  const shown = [...pairs].sort((a, b) => size(b) - size(a)).slice(0, MOST_BARS);
  const most = ticks.at(-1) ?? 1;
  return (
    <div class="card">
      <p class="fine">
        Boxes.
        {isCompared && ` First bar: ${titles[0] ?? ''}. Second bar: ${titles[1] ?? ''}.`}
        {pairs.length > shown.length &&
          ` The ${shown.length} with the most boxes of ${grouped(pairs.length)}; all are in the table.`}
      </p>
      <ul class="bar-list" aria-label="Boxes">
        {shown.map(({ row, other }) => (
          <li key={row?.name ?? other?.name}>
            <span class="bar-name">
              <Foreign text={row?.name ?? other?.name ?? ''} />
            </span>
            <span class="bar-tracks">
              <Track row={row} most={most} hidden={hidden} />
              {isCompared && <Track row={other} most={most} hidden={hidden} isOther />}
            </span>
          </li>
        ))}
      </ul>
      <div class="bar-axis" aria-hidden="true">
        <span />
        <span class="bar-tracks">
          <span class="axis">
            {ticks.map((tick) => (
              <span key={tick}>{grouped(tick)}</span>
            ))}
          </span>
        </span>
      </div>
    </div>
  );
}

interface TrackProps {
  row: CountRow | null;
  most: number;
  hidden: ReadonlySet<string>;
  /** It is drawn fainter. */
  isOther?: boolean;
}

function Track({ row, most, hidden, isOther = false }: TrackProps) {
  const count = rowBoxes(row, hidden);
  const parts = Object.entries(row?.classes ?? {}).filter(([name]) => !hidden.has(name));
  return (
    <span class={isOther ? 'bar-track other' : 'bar-track'}>
      {parts.map(([name, boxes]) => (
        <span
          key={name}
          class="bar-part"
          style={{ width: `${(100 * boxes) / most}%`, background: classColour(name).colour }}
        />
      ))}
      <span class="bar-number">{count === null ? 'no images' : grouped(count)}</span>
    </span>
  );
}
