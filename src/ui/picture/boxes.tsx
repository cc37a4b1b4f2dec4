/**
 * The boxes over a picture, and their labels, in pixels of the screen: lines and text keep their size at every zoom.
 */
import { signal, useComputed, type ReadonlySignal } from '@preact/signals';
import { classColour } from '../../overlay/class-colour.js';
import { placeLabels, type Rect } from '../../overlay/place-labels.js';
import { percent, visible } from '../text/format.js';
import { LABEL_HEIGHT, labelPlace, LEAST_BOX } from './label-place.js';
import type { LabelMode } from './marks.js';
import type { ShownBox } from './shown-boxes.js';
import type { Size } from './view-window.js';

const LABEL_PADDING = 6;

interface PlacedBox {
  shown: ShownBox;
  rect: Rect;
}

interface BoxesProps {
  placed: ReadonlySignal<readonly PlacedBox[]>;
  stage: ReadonlySignal<Size>;
  labels: ReadonlySignal<LabelMode>;
  active: ReadonlySignal<number | null>;
  pinned: ReadonlySignal<number | null>;
}

export function Boxes({ placed, stage, labels, active, pinned }: BoxesProps) {
  const { width, height } = stage.value;
  const hasPin = useComputed(() => pinned.value !== null);
  return (
    <svg
      class={hasPin.value ? 'boxes has-pin' : 'boxes'}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
    >
      <Lines placed={placed} />
      <Labels placed={placed} stage={stage} labels={labels} />
      <Marked placed={placed} stage={stage} id={pinned} labels={labels} />
      <Marked placed={placed} stage={stage} id={active} labels={labels} />
    </svg>
  );
}

/** Dark beneath the colour: it shows on bright and on dark pictures. */
function Lines({ placed }: Pick<BoxesProps, 'placed'>) {
  return (
    <g class="box-lines">
      {placed.value.map(({ shown, rect }) => (
        <g
          key={shown.id}
          class={`box ${shown.change ?? ''}`}
          opacity={0.6 + 0.4 * shown.confidence}
        >
          <rect class="casing" {...rect} />
          <rect {...lineOf(shown)} {...rect} />
        </g>
      ))}
    </g>
  );
}

function Labels({ placed, stage, labels }: Pick<BoxesProps, 'placed' | 'stage' | 'labels'>) {
  // Read here, so that the labels are placed anew once the font has come.
  const epoch = fontEpoch.value;
  if (labels.value !== 'fit') return null;
  const boxes = placed.value.map(({ shown, rect }) => ({
    rect,
    label: rect.height < LEAST_BOX ? null : { width: labelWidth(shown), height: LABEL_HEIGHT },
  }));
  const places = placeLabels(boxes, stage.value);
  return (
    <g key={epoch} class="box-labels">
      {placed.value.map(({ shown }, index) => {
        const place = places[index];
        return place === null || place === undefined ? null : (
          <Label key={shown.id} shown={shown} place={place} />
        );
      })}
    </g>
  );
}

/** The marked box above all others, always with its label. */
function Marked(
  props: Pick<BoxesProps, 'placed' | 'stage' | 'labels'> & { id: ReadonlySignal<number | null> },
) {
  const { placed, stage, labels, id } = props;
  const found = placed.value.find(({ shown }) => shown.id === id.value);
  if (found === undefined) return null;
  const { shown, rect } = found;
  const place = labelPlace(rect, labelWidth(shown), stage.value);
  const { colour } = classColour(shown.class);
  return (
    <g class="box marked">
      <rect class="casing" {...rect} />
      <rect {...lineOf(shown)} {...rect} fill={colour} fill-opacity="0.16" />
      {labels.value !== 'none' && <Label shown={shown} place={place} />}
    </g>
  );
}

function Label({ shown, place }: { shown: ShownBox; place: Rect }) {
  const { colour, text } = classColour(shown.class);
  return (
    <g class="box-label" transform={`translate(${place.x} ${place.y})`}>
      <rect width={place.width} height={LABEL_HEIGHT} rx="3" fill={colour} />
      <text x={LABEL_PADDING} y={LABEL_HEIGHT - 5} fill={text}>
        {labelText(shown)}
      </text>
    </g>
  );
}

function lineOf({ class: name }: ShownBox) {
  const { colour, dashed } = classColour(name);
  return { class: dashed ? 'line dashed' : 'line', stroke: colour };
}

const SIGNS = { gained: '+ ', lost: '− ', changed: '≈ ', same: '' };

export function labelText(shown: ShownBox): string {
  const { class: name, confidence, change = 'same', after } = shown;
  const text = `${SIGNS[change]}${visible(name)} ${percent(confidence)}`;
  if (after === undefined) return text;
  return `${text} → ${after.class === name ? '' : `${visible(after.class)} `}${percent(after.confidence)}`;
}

function labelWidth(shown: ShownBox): number {
  return textWidth(labelText(shown)) + 2 * LABEL_PADDING;
}

/** The font of `.box-label` in the style sheet. */
const FONT = "600 12px 'Inter Variable', 'Inter Fallback', sans-serif";

/** Changes once the font has come: widths measured before are of another one. */
const fontEpoch = signal(0);

let context: CanvasRenderingContext2D | null = null;
let widths = new Map<string, number>();

document.fonts.load("600 12px 'Inter Variable'").then(
  () => {
    widths = new Map();
    fontEpoch.value += 1;
  },
  // If the font does not load, the text stands in the fallback, which is as wide.
  () => undefined,
);

function textWidth(text: string): number {
  const known = widths.get(text);
  if (known !== undefined) return known;
  context ??= document.createElement('canvas').getContext('2d');
  if (context === null) return text.length * 7;
  context.font = FONT;
  const width = Math.ceil(context.measureText(text).width);
  widths.set(text, width);
  return width;
}
