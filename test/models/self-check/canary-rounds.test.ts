/** Rounds of the self-check whose core fails or closes beneath them. */
import { describe, expect, it, vi } from 'vitest';
import { LatticeError } from '../../../src/errors.js';
import type { Detection } from '../../../src/contract/image-result.js';
import {
  devicesOf,
  loadedModel,
  watchModel,
  type WatchParts,
} from '../../support/watched-model.js';

const BOX: Detection = { class: 'car', confidence: 0.5, box: [0, 0, 10, 10] };

describe('a round that cannot go on', () => {
  function breaking() {
    const models = [loadedModel(), loadedModel('b.pt')];
    const log = vi.fn();
    const looked: string[] = [];
    const parts: WatchParts = {
      look: (model) => {
        looked.push(model.file.name);
        return Promise.resolve([BOX]);
      },
      devices: () => devicesOf(1),
      judge: () => undefined,
      loaded: () => models,
      log,
    };
    return { models, log, looked, parts, canary: watchModel(parts) };
  }

  it.each([
    ['the core closes', false, 'shutting_down'],
    ['the watch stops and the core closes', true, 'shutting_down'],
    ['the watch stops and the look fails', true, 'detection_failed'],
  ] as const)('ends in silence when %s', async (_what, stops, code) => {
    const { models, log, looked, parts, canary } = breaking();
    for (const model of models) await canary.admit(model);
    const closed = new LatticeError(code, 'closed');
    parts.look = ({ file }) => {
      looked.push(file.name);
      if (stops) canary.stop();
      parts.devices = () => {
        throw closed;
      };
      return Promise.reject(closed);
    };
    looked.length = 0;
    await canary.checkAll();
    expect(looked).toEqual(['a.pt']);
    expect(log).not.toHaveBeenCalled();
    expect(models.map(({ distrust }) => distrust)).toEqual([null, null]);
  });

  it('logs an error that nobody expects and goes on with the next model', async () => {
    const { models, log, looked, parts, canary } = breaking();
    for (const model of models) await canary.admit(model);
    parts.devices = ({ file }) => {
      if (file.name === 'a.pt') throw new Error('odd');
      return devicesOf(1);
    };
    looked.length = 0;
    await canary.checkAll();
    expect(looked).toEqual(['b.pt']);
    expect(log).toHaveBeenCalledExactlyOnceWith(
      { model: 'a.pt', error: 'Error: odd' },
      'self-check could not be made',
    );
  });
});
