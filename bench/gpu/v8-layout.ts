/**
 * Detectors in the published v8 layout with arbitrary weights: they take as long as a trained export of that size, and
 * their boxes have no meaning. For sizes without an export.
 */
import { OnnxWriter } from './onnx-writer.js';
import type { ModelSize } from './plan.js';

/** Depth, width, most channels before the width is applied. */
const SCALES: Record<ModelSize, [depth: number, width: number, most: number]> = {
  n: [0.33, 0.25, 1024],
  s: [0.33, 0.5, 1024],
  m: [0.67, 0.75, 768],
  l: [1, 1, 512],
  x: [1, 1.25, 512],
};
const SIDE = 640;
const STRIDES = [8, 16, 32];
const CLASSES = 80;
const BINS = 16;
/** Bias of the class scores before the sigmoid: hardly any anchor is a candidate, as in a usual photo. */
const CLASS_BIAS = -7;

/** A feature map and its channels. */
interface Map2d {
  name: string;
  channels: number;
}

/** The file; the same bytes each time. */
export function v8Layout(size: ModelSize): Buffer {
  return new Layout(size).file();
}

class Layout {
  readonly #writer = new OnnxWriter();
  readonly #size: ModelSize;
  #seed = 1;

  constructor(size: ModelSize) {
    this.#size = size;
  }

  file(): Buffer {
    const output = this.#decoded(this.#neck(this.#backbone()));
    const names = Array.from({ length: CLASSES }, (_, id) => `${id}: 'class ${id}'`);
    return this.#writer.file(
      { name: 'images', dims: [-1, 3, SIDE, SIDE] },
      { name: 'output0', from: output, dims: [-1, 4 + CLASSES, anchors().length] },
      {
        description: `v8 ${this.#size} layout with arbitrary weights, for measuring`,
        task: 'detect',
        stride: '32',
        batch: '1',
        imgsz: `[${SIDE}, ${SIDE}]`,
        names: `{${names.join(', ')}}`,
      },
    );
  }

  #backbone(): Map2d[] {
    const [c1, c2, c3, c4, c5] = [64, 128, 256, 512, 1024].map((each) => this.#channels(each));
    let map = this.#conv({ name: 'images', channels: 3 }, c1!, 3, 2);
    map = this.#stage(this.#conv(map, c2!, 3, 2), c2!, this.#depth(3), true);
    const at8 = this.#stage(this.#conv(map, c3!, 3, 2), c3!, this.#depth(6), true);
    const at16 = this.#stage(this.#conv(at8, c4!, 3, 2), c4!, this.#depth(6), true);
    const at32 = this.#stage(this.#conv(at16, c5!, 3, 2), c5!, this.#depth(3), true);
    return [at8, at16, this.#pyramid(at32)];
  }

  #neck([at8, at16, at32]: Map2d[]): Map2d[] {
    const merged = (one: Map2d, other: Map2d) =>
      this.#stage(this.#joined([one, other]), other.channels, this.#depth(3), false);
    const halved = (map: Map2d) => this.#conv(map, map.channels, 3, 2);
    const down16 = merged(this.#enlarged(at32!), at16!);
    const out8 = merged(this.#enlarged(down16), at8!);
    const out16 = merged(halved(out8), down16);
    const out32 = merged(halved(out16), at32!);
    return [out8, out16, out32];
  }

  /** From the three maps to [N, 4 + classes, anchors]. */
  #decoded(maps: Map2d[]): string {
    const writer = this.#writer;
    const first = maps[0]!.channels;
    const forBoxes = Math.max(16, Math.floor(first / 4), 4 * BINS);
    const forClasses = Math.max(first, Math.min(CLASSES, 100));
    const rows = maps.map((map) => {
      const boxes = this.#branch(map, forBoxes, 4 * BINS, 0);
      const classes = this.#branch(map, forClasses, CLASSES, CLASS_BIAS);
      const both = this.#joined([boxes, classes]);
      return writer.node('Reshape', [both.name, writer.integers([0, both.channels, -1])]);
    });
    const all = writer.node('Concat', rows, [{ name: 'axis', value: 2 }]);
    const sizes = writer.integers([4 * BINS, CLASSES]);
    const distances = writer.node('Split', [all, sizes], [{ name: 'axis', value: 1 }], 2);
    const scores = writer.node('Sigmoid', [`${distances}.1`]);
    const boxes = this.#boxes(this.#expected(distances));
    return writer.node('Concat', [boxes, scores], [{ name: 'axis', value: 1 }]);
  }

  /** Distances to the four sides, from their distributions. */
  #expected(distances: string): string {
    const writer = this.#writer;
    const bins = writer.node('Reshape', [distances, writer.integers([0, 4, BINS, -1])]);
    const apart = writer.node('Transpose', [bins], [{ name: 'perm', value: [0, 2, 1, 3] }]);
    const likely = writer.node('Softmax', [apart], [{ name: 'axis', value: 1 }]);
    const places = Array.from({ length: BINS }, (_, bin) => bin);
    const mean = writer.node('Conv', [likely, writer.floats(places, [1, BINS, 1, 1])]);
    return writer.node('Reshape', [mean, writer.integers([0, 4, -1])]);
  }

  #boxes(sides: string): string {
    const writer = this.#writer;
    const points = anchors();
    const centres = writer.floats(
      [...points.map(({ x }) => x), ...points.map(({ y }) => y)],
      [1, 2, points.length],
    );
    const steps = writer.floats(
      points.map(({ stride }) => stride),
      [1, points.length],
    );
    const near = writer.node(
      'Split',
      [sides, writer.integers([2, 2])],
      [{ name: 'axis', value: 1 }],
      2,
    );
    const from = writer.node('Sub', [centres, near]);
    const to = writer.node('Add', [centres, `${near}.1`]);
    const middle = writer.node('Div', [writer.node('Add', [from, to]), writer.floats([2], [])]);
    const extent = writer.node('Sub', [to, from]);
    const box = writer.node('Concat', [middle, extent], [{ name: 'axis', value: 1 }]);
    return writer.node('Mul', [box, steps]);
  }

  #branch(map: Map2d, channels: number, out: number, bias: number): Map2d {
    const inner = this.#conv(this.#conv(map, channels, 3, 1), channels, 3, 1);
    return this.#plainConv(inner, out, 1, 1, bias);
  }

  /** Half the channels run through bottlenecks, and every result between is kept. */
  #stage(map: Map2d, channels: number, depth: number, shortcut: boolean): Map2d {
    const half = channels / 2;
    const entered = this.#conv(map, channels, 1, 1);
    const left = this.#writer.node(
      'Split',
      [entered.name, this.#writer.integers([half, half])],
      [{ name: 'axis', value: 1 }],
      2,
    );
    const parts: Map2d[] = [left, `${left}.1`].map((name) => ({ name, channels: half }));
    for (let block = 0; block < depth; block += 1) {
      const before = parts.at(-1)!;
      const after = this.#conv(this.#conv(before, half, 3, 1), half, 3, 1);
      const name = shortcut ? this.#writer.node('Add', [before.name, after.name]) : after.name;
      parts.push({ name, channels: half });
    }
    return this.#conv(this.#joined(parts), channels, 1, 1);
  }

  #pyramid(map: Map2d): Map2d {
    const parts = [this.#conv(map, map.channels / 2, 1, 1)];
    for (let pool = 0; pool < 3; pool += 1) {
      const { name, channels } = parts.at(-1)!;
      const pooled = this.#writer.node(
        'MaxPool',
        [name],
        [
          { name: 'kernel_shape', value: [5, 5] },
          { name: 'pads', value: [2, 2, 2, 2] },
          { name: 'strides', value: [1, 1] },
        ],
      );
      parts.push({ name: pooled, channels });
    }
    return this.#conv(this.#joined(parts), map.channels, 1, 1);
  }

  #enlarged({ name, channels }: Map2d): Map2d {
    const scales = this.#writer.floats([1, 1, 2, 2], [4]);
    return { name: this.#writer.node('Resize', [name, '', scales]), channels };
  }

  #joined(maps: Map2d[]): Map2d {
    const names = maps.map(({ name }) => name);
    const channels = maps.reduce((sum, map) => sum + map.channels, 0);
    return { name: this.#writer.node('Concat', names, [{ name: 'axis', value: 1 }]), channels };
  }

  /** With SiLU. */
  #conv(map: Map2d, out: number, kernel: number, stride: number): Map2d {
    const { name } = this.#plainConv(map, out, kernel, stride, 0);
    const gate = this.#writer.node('Sigmoid', [name]);
    return { name: this.#writer.node('Mul', [name, gate]), channels: out };
  }

  #plainConv(map: Map2d, out: number, kernel: number, stride: number, bias: number): Map2d {
    const perOutput = map.channels * kernel * kernel;
    const weights = this.#weights(out * perOutput, perOutput);
    const inputs = [
      map.name,
      this.#writer.halves(weights, [out, map.channels, kernel, kernel]),
      this.#writer.floats(new Array<number>(out).fill(bias), [out]),
    ];
    const pad = (kernel - 1) / 2;
    const name = this.#writer.node('Conv', inputs, [
      { name: 'kernel_shape', value: [kernel, kernel] },
      { name: 'pads', value: [pad, pad, pad, pad] },
      { name: 'strides', value: [stride, stride] },
    ]);
    return { name, channels: out };
  }

  /** Halves of either sign within one power of two, so that maps neither vanish nor overflow. */
  #weights(count: number, perOutput: number): Uint16Array {
    const exponent = Math.round(Math.log2(Math.sqrt(2 / perOutput) / 1.53)) + 15;
    const bits = new Uint16Array(count);
    for (let at = 0; at < count; at += 1) {
      this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
      bits[at] = ((this.#seed >>> 16) & 0x83ff) | (exponent << 10);
    }
    return bits;
  }

  #channels(published: number): number {
    const [, width, most] = SCALES[this.#size];
    return Math.ceil((Math.min(published, most) * width) / 8) * 8;
  }

  #depth(published: number): number {
    return Math.max(Math.round(published * SCALES[this.#size][0]), 1);
  }
}

/** Centres of the cells in cells, level by level. */
function anchors(): { x: number; y: number; stride: number }[] {
  return STRIDES.flatMap((stride) => {
    const cells = SIDE / stride;
    return Array.from({ length: cells * cells }, (_, at) => ({
      x: (at % cells) + 0.5,
      y: Math.floor(at / cells) + 0.5,
      stride,
    }));
  });
}
