import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LatticeError } from '../../../src/errors.js';
import type { Detection } from '../../../src/contract/image-result.js';
import type { ModelDevice } from '../../../src/models/loaded-model.js';
import { devicesOf, loadedModel, watchModel } from '../../support/watched-model.js';

const BOX: Detection = { class: 'car', confidence: 0.5, box: [0, 0, 10, 10] };
type Look = (device: number | null) => Promise<Detection[]>;

function watch(look: Look, devices: ModelDevice[] = devicesOf(1)) {
  const model = loadedModel();
  const loaded = [model];
  const log = vi.fn();
  const canary = watchModel({
    look: (_model, _picture, device) => look(device),
    devices: () => devices,
    judge: (_model, index, right) => {
      const device = devices.find((each) => each.index === index);
      if (device !== undefined) device.state = right ? 'ok' : 'failed_check';
    },
    loaded: () => loaded,
    log,
    answerWithinMs: 50,
  });
  return { model, loaded, canary, devices, log };
}

const states = (devices: ModelDevice[]) => devices.map(({ state }) => state);

describe('canary watch', () => {
  it('refuses a fresh blind model', async () => {
    const { model, canary } = watch(() => Promise.resolve([]));
    await expect(canary.admit(model)).rejects.toMatchObject({
      code: 'invalid_model',
      message: expect.stringContaining("Model 'a.pt' failed its self-check: it sees nothing"),
    });
  });

  it('refuses a fresh model that is blind at one of its inputs, and says at which', async () => {
    const heights: number[] = [];
    const model = loadedModel();
    model.native.rectangles = [{ width: 640, height: 320 }];
    const log = vi.fn();
    const canary = watchModel({
      look: (_model, { height }) => {
        heights.push(height);
        return Promise.resolve(height === 32 ? [] : [BOX]);
      },
      devices: () => devicesOf(1),
      judge: () => undefined,
      loaded: () => [],
      log,
    });
    const fault = expect.stringMatching(/at 640 x 320 it sees nothing/) as string;
    await expect(canary.admit(model)).rejects.toMatchObject({
      code: 'invalid_model',
      message: fault,
    });
    expect(heights).toEqual([64, 64, 32]);
    expect(log).toHaveBeenCalledWith({ model: 'a.pt', fault }, 'self-check failed');
  });

  it('distrusts a model that goes blind and trusts it again once it sees', async () => {
    let boxes = [BOX];
    const { model, canary } = watch(() => Promise.resolve(boxes));
    await canary.admit(model);
    await canary.checkAll();
    expect(model.distrust).toBeNull();
    boxes = [];
    await canary.checkAll();
    expect(model.distrust).toMatchObject({ code: 'model_not_ready' });
    boxes = [BOX];
    await canary.checkAll();
    expect(model.distrust).toBeNull();
  });

  it('distrusts a device that gives no answer or an error', async () => {
    let answer = () => Promise.resolve([BOX]);
    const { model, canary } = watch(() => answer());
    await canary.admit(model);
    answer = () => new Promise(() => undefined);
    await canary.checkAll();
    expect(model.distrust?.message).toContain('no answer');
    answer = () => Promise.resolve([BOX]);
    await canary.checkAll();
    expect(model.distrust).toBeNull();
    answer = () => Promise.reject(new LatticeError('detection_failed', 'engine broke'));
    await canary.checkAll();
    expect(model.distrust?.message).toContain('engine broke');
  });

  it('draws no conclusion from a stop or a full queue', async () => {
    let answer = () => Promise.resolve([BOX]);
    const { model, canary } = watch(() => answer());
    await canary.admit(model);
    answer = () => Promise.reject(new LatticeError('shutting_down', 'stopping'));
    await canary.checkAll();
    expect(model.distrust).toBeNull();
  });

  it('says nothing of a model that is unloaded during its check, nor checks one that is gone', async () => {
    let look: Look = () => Promise.resolve([BOX]);
    const { model, loaded, canary, log } = watch((device) => look(device));
    const second = loadedModel('b.pt');
    await canary.admit(model);
    await canary.admit(second);
    loaded.push(second);
    look = vi.fn(() => {
      loaded.length = 0;
      return Promise.reject(new LatticeError('unknown_model', 'There is no such model.'));
    });
    await canary.checkAll();
    expect(look).toHaveBeenCalledOnce();
    expect(log).not.toHaveBeenCalled();
    expect(model.faults.size).toBe(0);
  });
});

describe('canary watch over several devices', () => {
  it('names each device in turn, and none where there is one', async () => {
    for (const [count, expected] of [
      [1, [null]],
      [3, [0, 2, 4]],
    ] as const) {
      const looked: (number | null)[] = [];
      const { model, canary } = watch((device) => {
        looked.push(device);
        return Promise.resolve([BOX]);
      }, devicesOf(count));
      await canary.admit(model);
      await canary.checkAll();
      expect(looked).toEqual([...expected, ...expected]);
    }
  });

  it('takes a fresh model whose one device is wrong, and leaves that device out', async () => {
    const { model, canary, devices, log } = watch(
      (device) => Promise.resolve(device === 2 ? [] : [BOX]),
      devicesOf(3),
    );
    await canary.admit(model);
    expect(states(devices)).toEqual(['ok', 'failed_check', 'ok']);
    expect(model.faults.get(2)).toContain('it sees nothing');
    expect(log).toHaveBeenCalledWith(
      expect.objectContaining({ device: 2, fault: expect.stringContaining('it sees nothing') }),
      'self-check failed',
    );
  });

  it.each([
    ['that gives an error', () => Promise.reject(new LatticeError('detection_failed', 'it broke'))],
    ['that gives no answer', () => new Promise<never>(() => undefined)],
  ])('takes a fresh model and leaves a device out %s', async (_what, wrong) => {
    const { model, canary, devices } = watch(
      (device) => (device === 2 ? wrong() : Promise.resolve([BOX])),
      devicesOf(3),
    );
    await canary.admit(model);
    expect(states(devices)).toEqual(['ok', 'failed_check', 'ok']);
    expect(model.faults.get(2)).toMatch(/it broke|no answer/);
  });

  it('does not blame the file for errors, nor a device for a full queue', async () => {
    const broken = () => Promise.reject(new LatticeError('detection_failed', 'it broke'));
    const { model, canary } = watch(broken, devicesOf(2));
    await expect(canary.admit(model)).rejects.toMatchObject({ code: 'detection_failed' });
    const full = watch(() => Promise.reject(new LatticeError('overloaded', 'full')), devicesOf(2));
    await expect(full.canary.admit(full.model)).rejects.toMatchObject({ code: 'overloaded' });
    expect(states(full.devices)).toEqual(['ok', 'ok']);
  });

  describe('of a model whose answer nobody knows', () => {
    const OTHER: Detection = { ...BOX, box: [100, 100, 140, 140] };

    it('takes the boxes of the majority, be the first device wrong', async () => {
      const { model, canary, devices, log } = watch(
        (device) => Promise.resolve([device === 0 ? OTHER : BOX]),
        devicesOf(3),
      );
      await canary.admit(model);
      await canary.checkAll();
      expect(states(devices)).toEqual(['failed_check', 'ok', 'ok']);
      expect(model.distrust).toBeNull();
      expect(log).toHaveBeenCalledWith(
        expect.objectContaining({ device: 0, fault: expect.stringContaining('most devices') }),
        'self-check failed',
      );
    });

    it('takes a device back once its boxes are those of the majority', async () => {
      let first = OTHER;
      const { model, canary, devices } = watch(
        (device) => Promise.resolve([device === 0 ? first : BOX]),
        devicesOf(3),
      );
      await canary.admit(model);
      first = BOX;
      await canary.checkAll();
      expect(states(devices)).toEqual(['ok', 'ok', 'ok']);
      expect(model.faults.size).toBe(0);
    });

    it('trusts neither of two that differ, reports both and does not blame the file', async () => {
      const { model, canary, log } = watch(
        (device) => Promise.resolve([device === 0 ? OTHER : BOX]),
        devicesOf(2),
      );
      await expect(canary.admit(model)).rejects.toMatchObject({
        code: 'model_not_ready',
        message: expect.stringContaining('no majority says whose are right'),
      });
      expect(log.mock.calls.map(([fields]) => (fields as { device: number }).device)).toEqual([
        0, 2,
      ]);
    });

    it('believes the one of two that is not out for another model', async () => {
      const { model, loaded, canary, devices } = watch(
        (device) => Promise.resolve([device === 0 ? OTHER : BOX]),
        devicesOf(2),
      );
      const known = loadedModel('known.pt');
      known.faults.set(0, 'it finds 3 boxes of 4');
      loaded.push(known);
      await canary.admit(model);
      expect(states(devices)).toEqual(['failed_check', 'ok']);
    });
  });

  it('refuses a fresh model that no device runs right', async () => {
    const { model, canary } = watch(() => Promise.resolve([]), devicesOf(2));
    await expect(canary.admit(model)).rejects.toMatchObject({ code: 'invalid_model' });
  });

  it('trusts the model until no device is right, and again with the first that is', async () => {
    const blind = new Set<number | null>();
    const { model, canary, devices } = watch(
      (device) => Promise.resolve(blind.has(device) ? [] : [BOX]),
      devicesOf(2),
    );
    await canary.admit(model);
    blind.add(0);
    await canary.checkAll();
    expect(states(devices)).toEqual(['failed_check', 'ok']);
    expect(model.distrust).toBeNull();
    blind.add(2);
    await canary.checkAll();
    expect(states(devices)).toEqual(['failed_check', 'failed_check']);
    expect(model.distrust).toMatchObject({ code: 'model_not_ready' });
    blind.delete(2);
    await canary.checkAll();
    expect(states(devices)).toEqual(['failed_check', 'ok']);
    expect(model.distrust).toBeNull();
  });

  it('passes lost devices over and says so once', async () => {
    const looked: (number | null)[] = [];
    const { model, canary, devices, log } = watch((device) => {
      looked.push(device);
      return Promise.resolve([BOX]);
    }, devicesOf(3));
    await canary.admit(model);
    devices[1]!.state = 'lost';
    looked.length = 0;
    await canary.checkAll();
    await canary.checkAll();
    expect(looked).toEqual([0, 4, 0, 4]);
    expect(states(devices)).toEqual(['ok', 'lost', 'ok']);
    expect(log).toHaveBeenCalledOnce();
    expect(model.distrust).toBeNull();
  });

  it('says between the rounds that a device was lost', async () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const look = vi.fn(() => Promise.resolve([BOX]));
    const { canary, devices, log } = watch(look, devicesOf(2));
    canary.start();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(log).not.toHaveBeenCalled();
    devices[1]!.state = 'lost';
    await vi.advanceTimersByTimeAsync(10_000);
    expect(log).toHaveBeenCalledOnce();
    expect(log.mock.calls[0]).toEqual([
      expect.objectContaining({ device: devices[1]!.index }),
      expect.stringContaining('is lost'),
    ]);
    expect(look).not.toHaveBeenCalled();
    canary.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('admits a model though a device is lost during its check', async () => {
    const { model, canary, devices } = watch((device) => {
      if (device !== 2) return Promise.resolve([BOX]);
      devices[1]!.state = 'lost';
      return Promise.reject(new LatticeError('gpu_lost', 'it faulted'));
    }, devicesOf(3));
    await canary.admit(model);
    expect(states(devices)).toEqual(['ok', 'lost', 'ok']);
  });

  it('distrusts the model once all devices are lost', async () => {
    let look: Look = () => Promise.resolve([BOX]);
    const { model, canary, devices } = watch((device) => look(device), devicesOf(2));
    await canary.admit(model);
    for (const device of devices) device.state = 'lost';
    look = () => Promise.reject(new LatticeError('gpu_lost', 'every GPU is lost'));
    await canary.checkAll();
    expect(model.distrust?.message).toContain('every GPU is lost');
  });
});
