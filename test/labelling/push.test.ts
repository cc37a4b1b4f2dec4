/** A push into a recorded Label Studio that fails in the ways that its users report. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ExportedImage, ProcessedEntry } from '../../src/export/export-source.js';
import { LabelStudio } from '../../src/labelling/label-studio.js';
import { push, type PushOptions } from '../../src/labelling/push.js';
import { FAULTS, RecordedStudio, STUDIO_KEY } from './recorded-studio.js';

const LIMITS = { deadlineMs: 60_000, rate: 1000, tries: 10, settleMs: 60_000 };
const NOTHING = { sent: 0, already: 0, notSent: 0, beyond: 0, doubled: 0, unlabelled: 0 };

let studio: RecordedStudio;

beforeEach(async () => {
  studio = await RecordedStudio.open();
});

afterEach(async () => {
  await studio[Symbol.asyncDispose]();
});

function picture(index: number, more: Partial<ProcessedEntry> = {}): ProcessedEntry {
  return {
    image_path: `gate/${index}.jpg`,
    status: 'ok',
    image: { width: 640, height: 480 },
    file: { size: 100 + index, modified_at: 1_790_000_000.25 },
    detections: [{ box: [1, 2, 3, 4], confidence: 0.5, class: 'car' }],
    ...more,
  };
}

const pictures = (count: number) => Array.from({ length: count }, (_, index) => picture(index));

const open = (key = STUDIO_KEY, project = 3, limits = LIMITS) =>
  new LabelStudio({ url: `${studio.url}/`, key, project }, limits, studio.clock);

async function pushed(
  images: readonly ExportedImage[],
  options: Partial<PushOptions> = {},
  tool = open(),
) {
  const reasons: string[] = [];
  const source = {
    model: 'own.pt',
    addressOf: (path: string) => `https://images.example/${path}`,
    pages: async function* () {
      for (let from = 0; from < images.length; from += 130) {
        yield await Promise.resolve(images.slice(from, from + 130));
      }
    },
  };
  const onReason = (reason: string) => reasons.push(reason);
  const counts = await push(source, tool, { limit: 10_000, batch: 100, onReason, ...options });
  return { ...counts, reasons };
}

function expectOnce(images: readonly ProcessedEntry[]): void {
  const paths = studio.tasks.map(({ data }) => data.image_path);
  expect([...new Set(paths)].sort()).toEqual(images.map((each) => each.image_path).sort());
  expect(paths).toHaveLength(images.length);
}

test('tasks have the names and labels of the project, in the order of the pictures', async () => {
  const boxes: ProcessedEntry['detections'] = [
    { box: [64, 48, 128, 96], confidence: 0.75, class: 'truck' },
    { box: [0, 0, 1, 1], confidence: 0.3, class: 'bird' },
  ];
  const images = [
    picture(2, { detections: boxes, model_digest: 'f75a8e4787ce638c' }),
    picture(1),
    picture(3, { detections: [] }),
  ];
  expect(await pushed(images)).toEqual({ ...NOTHING, sent: 3, unlabelled: 1, reasons: [] });
  expect(studio.tasks.map(({ data }) => data.picture)).toEqual(
    [2, 1, 3].map((index) => `https://images.example/gate/${index}.jpg`),
  );
  expect(studio.tasks[0]!.predictions).toMatchObject([
    {
      model_version: 'own.pt f75a8e4787ce638c',
      score: 0.75,
      result: [
        {
          ...{ from_name: 'box', to_name: 'photo', type: 'rectanglelabels' },
          value: { x: 10, y: 10, width: 10, height: 10, rectanglelabels: ['Lorry'] },
        },
      ],
    },
  ]);
});

test('what the project has is not sent, whichever job it came from; a file written anew is', async () => {
  studio.add({ picture: 'other.jpg' }, { text: 'no picture', lattice_key: 7 });
  const before = studio.tasks.length;
  await pushed(pictures(3));
  const again = [...pictures(5), picture(1, { model_digest: '00' }), ...pictures(2)];
  expect(await pushed(again)).toMatchObject({ sent: 2, already: 6, notSent: 0, doubled: 0 });
  const changed = picture(0, { file: { size: 100, modified_at: 1_790_000_001 } });
  expect(await pushed([changed])).toMatchObject({ sent: 1 });
  expect(studio.tasks).toHaveLength(before + 6);
});

test('failed images are left out, and the limit counts tasks that are sent', async () => {
  await pushed(pictures(2));
  const failed: ExportedImage = {
    image_path: 'gate/failed.jpg',
    ...{ status: 'error', error: { detail: 'It is damaged.' } },
  };
  const counts = await pushed([failed, ...pictures(9)], { limit: 4, batch: 3 });
  expect(counts).toMatchObject({ sent: 4, already: 2, beyond: 3 });
  expectOnce(pictures(6));
});

describe('10,000 tasks end up exactly once', () => {
  const images = pictures(10_000);

  test('without a fault, in requests of 100', async () => {
    expect(await pushed(images)).toEqual({ ...NOTHING, sent: 10_000, reasons: [] });
    expect(studio.imports).toEqual(Array.from({ length: 100 }, () => 100));
    expectOnce(images);
  });

  test.each(FAULTS)('where every 20th request meets: %s', async (fault) => {
    studio.faults = Array.from({ length: 90 }, (_, at) => (at % 20 === 3 ? fault : undefined));
    expect(await pushed(images)).toEqual({ ...NOTHING, sent: 10_000, reasons: [] });
    expectOnce(images);
  });
});

test('after any faults, the same command sends what is missing', async () => {
  const fault = fc.option(fc.constantFrom(...FAULTS), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { maxLength: 40 }), async (faults) => {
      studio.tasks = [];
      studio.faults = [...faults];
      const images = pictures(60);
      const first = await pushed(images, { batch: 7 });
      expect(first).toMatchObject({ already: 0, doubled: 0 });
      expect(first.sent + first.notSent).toBe(60);
      studio.faults = [];
      const second = await pushed(images, { batch: 11 });
      expect(second).toMatchObject({ sent: first.notSent, notSent: 0, doubled: 0 });
      expectOnce(images);
    }),
    { numRuns: 40 },
  );
});

test('429 is followed by the pause that it asks for', async () => {
  studio.faults = ['429'];
  await pushed(pictures(2));
  expect(studio.imports).toEqual([2, 2]);
  expect(Math.max(...studio.pauses)).toBe(77_000);
});

test('tasks are looked for as long as they may come, and sent again only then', async () => {
  studio.faults = ['502'];
  await pushed(pictures(2));
  const total = studio.pauses.reduce((sum, each) => sum + each, 0);
  expect(total).toBeGreaterThanOrEqual(LIMITS.settleMs);
  expect(studio.imports).toEqual([2, 2]);
});

test('tasks that come after the time to settle are told as doubled', async () => {
  studio.faults = ['late'];
  const hasty = open(STUDIO_KEY, 3, { ...LIMITS, settleMs: 0 });
  expect(await pushed(pictures(2), {}, hasty)).toMatchObject({ sent: 2, doubled: 2 });
  expect(studio.tasks).toHaveLength(4);
});

test('tasks that are taken and deleted meanwhile are told as not sent', async () => {
  const onStep = () => {
    studio.tasks = studio.tasks.slice(0, 3);
  };
  const counts = await pushed(pictures(5), { onStep });
  expect(counts).toMatchObject({ sent: 3, notSent: 2 });
  expect(counts.reasons).toEqual(['2 tasks were taken and are not there.']);
});

test('a Label Studio that stays away ends the push with the number of what is missing', async () => {
  studio.faults = [undefined, ...Array.from({ length: 60 }, () => '500' as const)];
  const counts = await pushed(pictures(350));
  expect(counts).toMatchObject({ sent: 100, notSent: 250 });
  expect(counts.reasons).toEqual([
    'Label Studio failed 10 times: it answered HTTP 500: {"detail":"deadlock detected"}.',
  ]);
  expect(studio.imports).toHaveLength(11);
});

test('a batch that is refused is counted, and the others are sent', async () => {
  studio.faults = ['413', undefined, '413'];
  const counts = await pushed(pictures(4), { batch: 2 });
  expect(counts).toMatchObject({ sent: 3, notSent: 1 });
  expect(counts.reasons[0]).toMatch(/^1 tasks are refused: .*Prediction validation failed/);
});

test('pages are read to the end where they are shorter than asked for', async () => {
  studio.mostPage = 7;
  await pushed(pictures(50));
  expect(await pushed(pictures(50))).toMatchObject({ sent: 0, already: 50 });
  expectOnce(pictures(50));
});

test('a personal access token is exchanged, and again when it has run out', async () => {
  const token = (studio.personalToken = 'head.body.signature');
  const tool = open(token);
  expect(await pushed(pictures(3), {}, tool)).toMatchObject({ sent: 3 });
  studio.accepted.clear();
  expect(await pushed(pictures(5), {}, tool)).toMatchObject({ sent: 2, already: 3 });
});

test.each([
  ['a wrong key', () => open('f'.repeat(40)), /HTTP 401.*LABEL_STUDIO_API_KEY/],
  ['a wrong personal token', () => open('a.b.c'), /HTTP 401.*LABEL_STUDIO_API_KEY/],
  ['a project that is not there', () => open(STUDIO_KEY, 4), /HTTP 404.*does not exist/],
])('%s is refused before anything is sent', async (_what, tool, message) => {
  await expect(pushed(pictures(1), {}, tool())).rejects.toThrow(message);
  expect(studio.imports).toEqual([]);
});

test('a project without boxes is refused', async () => {
  studio.config = '<View><Text name="text" value="$text"/></View>';
  await expect(pushed(pictures(1))).rejects.toThrow('no RectangleLabels');
});

test('a signal ends it, and the next run goes on', async () => {
  const stop = new AbortController();
  let steps = 0;
  const onStep = () => {
    steps += 1;
    if (steps === 200) stop.abort();
  };
  await expect(pushed(pictures(500), { signal: stop.signal, onStep })).rejects.toThrow(/abort/i);
  expect(await pushed(pictures(500))).toMatchObject({ sent: 300, already: 200 });
  expectOnce(pictures(500));
});

test.each(['ftp://studio.example', 'studio', 'http://me:secret@studio.example'])(
  'the address %s is refused',
  (url) => {
    const access = { url, key: STUDIO_KEY, project: 3 };
    expect(() => new LabelStudio(access, LIMITS)).toThrow(TypeError);
  },
);
