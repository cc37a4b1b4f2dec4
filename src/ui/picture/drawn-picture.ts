/** A picture with its boxes as a file: what is shown, in the size of the picture. */
import { CASING, classColour } from '../../overlay/class-colour.js';
import { placeLabels } from '../../overlay/place-labels.js';
import { labelText } from './boxes.js';
import type { ImageSize, ShownBox } from './shown-boxes.js';
import { onScreen, WHOLE } from './view-window.js';

const QUALITY = 0.9;

interface Shown {
  /** URL of the picture in this page. */
  url: string;
  /** The boxes are in pixels of this size. */
  size: ImageSize;
  boxes: readonly ShownBox[];
  hasLabels: boolean;
}

export async function drawnPicture(
  { url, size, boxes, hasLabels }: Shown,
  mediaType: string,
): Promise<Blob> {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser cannot draw the picture.');
  context.drawImage(image, 0, 0);
  const placed = boxes.map((shown) => ({
    shown,
    rect: onScreen(shown.box, size, canvas, WHOLE),
  }));
  const unit = Math.max(1, Math.sqrt(canvas.width * canvas.height) / 800);
  // The best one lies above the others.
  for (const { shown, rect } of [...placed].reverse()) {
    const { colour, dashed } = classColour(shown.class);
    context.setLineDash([]);
    context.strokeStyle = CASING;
    context.lineWidth = 4 * unit;
    context.strokeRect(rect.x, rect.y, rect.width, rect.height);
    if (dashed) context.setLineDash([10 * unit, 5 * unit]);
    context.strokeStyle = colour;
    context.lineWidth = 2 * unit;
    context.strokeRect(rect.x, rect.y, rect.width, rect.height);
  }
  if (hasLabels) drawLabels(context, placed, unit);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => {
        if (blob !== null) resolve(blob);
        else reject(new Error('The picture is too large for this browser to save.'));
      },
      mediaType,
      QUALITY,
    );
  });
}

function drawLabels(
  context: CanvasRenderingContext2D,
  placed: readonly { shown: ShownBox; rect: ReturnType<typeof onScreen> }[],
  unit: number,
): void {
  const [text, padding] = [13 * unit, 5 * unit];
  context.font = `600 ${text}px 'Inter Variable', 'Inter Fallback', sans-serif`;
  context.textBaseline = 'middle';
  const height = text + padding;
  const places = placeLabels(
    placed.map(({ shown, rect }) => ({
      rect,
      label: { width: context.measureText(labelText(shown)).width + 2 * padding, height },
    })),
    context.canvas,
  );
  placed.forEach(({ shown }, index) => {
    const place = places[index];
    if (!place) return;
    const { colour, text: ink } = classColour(shown.class);
    context.fillStyle = colour;
    context.fillRect(place.x, place.y, place.width, place.height);
    context.fillStyle = ink;
    context.fillText(labelText(shown), place.x + padding, place.y + height / 2);
  });
}
