// Hono, sharp and ONNX Runtime for Node (f32). Environment: MODEL, ROOT, PORT. Run: node server.mjs
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import sharp from 'sharp';

const { MODEL, ROOT, PORT } = process.env;
const SIDE = 640;
const PLANE = SIDE * SIDE;
const MOST_BOXES = 300;
const UNIT = Float32Array.from({ length: 256 }, (_, value) => value / 255);

/** An export with open sides is given the square, so that its shapes are known before the first photo. */
async function openSession() {
  const shape = (await InferenceSession.create(MODEL)).inputMetadata[0].shape;
  const sizes = [1, 3, SIDE, SIDE].map((size, at) => [shape[at], size]);
  const open = sizes.filter(([name]) => typeof name === 'string');
  return InferenceSession.create(MODEL, { freeDimensionOverrides: Object.fromEntries(open) });
}

async function letterbox(file) {
  const picture = sharp(file).rotate();
  const { autoOrient: from } = await picture.metadata();
  const scale = Math.min(SIDE / from.height, SIDE / from.width);
  const width = Math.round(from.width * scale);
  const height = Math.round(from.height * scale);
  // Not resize(), which averages where it makes smaller: the reference takes the nearest four pixels.
  if (width !== from.width || height !== from.height) {
    const [across, down] = [width / from.width, height / from.height];
    const centres = { idx: 0.5 - 0.5 / across, idy: 0.5 - 0.5 / down };
    picture.affine([across, 0, 0, down], { interpolator: 'bilinear', ...centres });
  }
  const bytes = await picture.toColourspace('srgb').removeAlpha().raw().toBuffer();
  if (bytes.length !== width * height * 3) throw new Error(`${file} is not ${width} x ${height}`);
  const left = Math.round((SIDE - width) / 2 - 0.1);
  const top = Math.round((SIDE - height) / 2 - 0.1);
  const pixels = new Float32Array(3 * PLANE).fill(UNIT[114]);
  for (let y = 0, from = 0; y < height; y += 1) {
    let to = (top + y) * SIDE + left;
    for (const end = to + width; to < end; to += 1, from += 3) {
      pixels[to] = UNIT[bytes[from]];
      pixels[to + PLANE] = UNIT[bytes[from + 1]];
      pixels[to + 2 * PLANE] = UNIT[bytes[from + 2]];
    }
  }
  return { pixels, scale, left, top };
}

/** Rows of x, y, width, height and one per class, each of all anchors. */
function candidates({ data, dims: [, rows, anchors] }, threshold) {
  const best = data.slice(4 * anchors, 5 * anchors);
  const classes = new Uint16Array(anchors);
  for (let row = 5, at = 5 * anchors; row < rows; row += 1) {
    for (let anchor = 0; anchor < anchors; anchor += 1, at += 1) {
      if (data[at] <= best[anchor]) continue;
      best[anchor] = data[at];
      classes[anchor] = row - 4;
    }
  }
  const found = [];
  for (let anchor = 0; anchor < anchors; anchor += 1) {
    if (!(best[anchor] > threshold)) continue;
    const [x, y, w, h] = [0, 1, 2, 3].map((row) => data[row * anchors + anchor]);
    const box = [x - w / 2, y - h / 2, x + w / 2, y + h / 2];
    found.push({ box, confidence: best[anchor], class: classes[anchor] });
  }
  return found.sort((a, b) => b.confidence - a.confidence);
}

function overlap([ax1, ay1, ax2, ay2], [bx1, by1, bx2, by2]) {
  const width = Math.max(0, Math.min(ax2, bx2) - Math.max(ax1, bx1));
  const height = Math.max(0, Math.min(ay2, by2) - Math.max(ay1, by1));
  const shared = width * height;
  return shared / ((ax2 - ax1) * (ay2 - ay1) + (bx2 - bx1) * (by2 - by1) - shared);
}

function merge(found) {
  const kept = [];
  for (const one of found) {
    const isNew = ({ box, class: id }) => id !== one.class || overlap(box, one.box) <= 0.7;
    if (kept.every(isNew)) kept.push(one);
    if (kept.length === MOST_BOXES) break;
  }
  return kept;
}

const session = await openSession();
const app = new Hono();
app.post('/v1/inference/detect', async (c) => {
  const { image_path: path, confidence_threshold: threshold = 0.5 } = await c.req.json();
  const { pixels, scale, left, top } = await letterbox(join(ROOT, path));
  const input = new Tensor('float32', pixels, [1, 3, SIDE, SIDE]);
  const outputs = await session.run({ [session.inputNames[0]]: input });
  const detections = merge(candidates(outputs[session.outputNames[0]], threshold));
  const inPhoto = (box) => box.map((edge, at) => (edge - (at % 2 === 0 ? left : top)) / scale);
  return c.json({ detections: detections.map((one) => ({ ...one, box: inPhoto(one.box) })) });
});
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) });
