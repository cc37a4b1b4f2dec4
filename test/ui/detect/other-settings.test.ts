import { expect, test } from 'vitest';
import { detectFields, type DetectChoice } from '../../../src/ui/detect/detect-request.js';
import { offersFor, settingOf } from '../../../src/ui/detect/other-settings.js';

const MODELS = ['a.pt', 'b=2.pt'];
const SHOWN: DetectChoice = { model: 'a.pt', classes: [], threshold: 0.1, tiles: 'off' };
const values = (shown: DetectChoice, chosen = '') =>
  offersFor(shown, MODELS, chosen).map(({ value }) => value);

test('every other value of every setting is offered, that of the shown request is not', () => {
  const ious = ['iou_threshold=0.3', 'iou_threshold=0.5', 'iou_threshold=0.9'];
  expect(values(SHOWN)).toEqual([
    'model=b=2.pt',
    ...['tiles=auto', 'tiles=2x2', 'tiles=3x3'],
    ...ious,
    'merge_classes=false',
  ]);
  const tiles = { columns: 3, rows: 3, overlap: 0.2 };
  expect(values({ ...SHOWN, model: 'b=2.pt', classes: ['*'], tiles })).toEqual([
    'model=a.pt',
    ...['tiles=off', 'tiles=auto', 'tiles=2x2'],
    ...ious,
    'merge_classes=true',
  ]);
});

test('what the address names is offered too', () => {
  expect(values(SHOWN, 'tiles=5x2')).toContain('tiles=5x2');
  expect(values(SHOWN, 'tiles=none')).not.toContain('tiles=none');
  expect(values(SHOWN, 'iou_threshold=0.45')).toContain('iou_threshold=0.45');
});

test('each offer changes one field of the request and leaves the others', () => {
  const shown = { ...SHOWN, classes: ['*'], tiles: 'auto' as const };
  const before: Record<string, unknown> = { ...detectFields(shown) };
  for (const value of values(shown)) {
    const setting = settingOf(value);
    expect(setting).not.toBeNull();
    const after: Record<string, unknown> = { ...detectFields({ ...shown, ...setting }) };
    const differ = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
      (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
    );
    const field = value.slice(0, value.indexOf('='));
    expect(differ).toEqual([field === 'model' ? 'model_name' : field]);
  }
});

test('texts that name no setting change nothing', () => {
  const texts = ['', 'a.pt', 'model=', 'tiles=big', 'iou_threshold=2', 'merge_classes=1'];
  for (const text of [...texts, 'constructor=1', 'confidence=0.2'])
    expect(settingOf(text)).toBeNull();
});
