/** Regions over a picture, each with its name and how many of the shown boxes lie in it. */
import type { Region } from '../../api/region-rules.js';
import type { PictureMarks } from '../picture/marks.js';
import { placeOf } from '../picture/view-window.js';
import { visible } from '../text/format.js';
import { chosenIndex, faults, shownRegions } from './region-choice.js';

/** Boxes by the name of the region. It lacks regions that the answer does not have yet. */
export type ShownCounts = ReadonlyMap<string, number>;

export function RegionShapes({ marks, counts }: { marks: PictureMarks; counts: ShownCounts }) {
  const { width, height } = marks.stage.value;
  if (width === 0 || shownRegions.value.length === 0) return null;
  const wrong = new Set(faults.value.map(({ at }) => at));
  const placed = shownRegions.value.map((region, at) => ({
    region,
    places: region.polygon.map((corner) =>
      placeOf(corner, marks.stage.value, marks.viewWindow.value),
    ),
    kind: kindOf(region, wrong.has(at), chosenIndex.value === at),
  }));
  return (
    <>
      <svg class="regions" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        {placed.map(({ region, places, kind }, at) => {
          const points = places.map(({ x, y }) => `${x},${y}`).join(' ');
          return (
            <g key={`${at} ${region.name}`} class={kind}>
              <polygon class="region-casing" points={points} />
              <polygon class="region-line" points={points} />
            </g>
          );
        })}
      </svg>
      {placed.map(({ region, places, kind }, at) => {
        const top = places.reduce((best, each) => (each.y < best.y ? each : best));
        return (
          <span
            key={`${at} ${region.name}`}
            class={`region-label ${kind}`}
            style={{
              left: `${Math.max(0, Math.min(top.x, width - 64))}px`,
              top: `${Math.max(0, Math.min(top.y, height - 24))}px`,
            }}
            aria-hidden="true"
          >
            {labelOf(region, counts)}
          </span>
        );
      })}
    </>
  );
}

/** The counts as a list, for people who do not see the picture. */
export function RegionCounts({ counts }: { counts: ShownCounts }) {
  if (shownRegions.value.length === 0) return null;
  return (
    <ul class="region-counts" aria-label="Boxes by region">
      {shownRegions.value.map((region, at) => (
        <li key={`${at} ${region.name}`}>{labelOf(region, counts)}</li>
      ))}
    </ul>
  );
}

function labelOf(region: Region, counts: ShownCounts) {
  const count = counts.get(region.name);
  return (
    <>
      {visible(region.name)}{' '}
      {region.ignore === true ? 'left out' : count !== undefined && <b>{count}</b>}
    </>
  );
}

function kindOf({ ignore }: Region, isWrong: boolean, isChosen: boolean): string {
  const kinds = [
    'region',
    ...(ignore === true ? ['mask'] : []),
    ...(isWrong ? ['wrong'] : []),
    ...(isChosen ? ['chosen'] : []),
  ];
  return kinds.join(' ');
}
