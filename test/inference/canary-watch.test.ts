import { describe, expect, it, vi } from 'vitest';
import { LatticeError } from '../../src/errors.js';
import { CanaryWatch } from '../../src/inference/canary-watch.js';
import { ClassFilter } from '../../src/inference/class-filter.js';
import type { Detection } from '../../src/inference/detector.js';
import type { LoadedModel } from '../../src/inference/loaded-model.js';
import type { NativeDevice } from '../../src/native/contract.js';

const BOX: Detection = { class: 'car', confidence: 0.5, box: [0, 0, 10, 10] };
const ignore = () => undefined;
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function loadedModel(): LoadedModel {
  return {
    file: { name: 'a.pt', path: '/a.onnx', bundled: false, licence: null, canaryPath: null },
    native: {
      modelId: 1,
      task: 'detect',
      names: ['car'],
      inputWidth: 640,
      inputHeight: 640,
      fixedBatch: 0,
      device: 'CPU',
      precision: 'f32',
      memoryBytes: 0,
      stride: 32,
      metadata: {},
    },
    classes: new ClassFilter(['car']),
    lastUse: 0,
    distrust: null,
    faults: new Map(),
  };
}

type Look = (device: number | null) => Promise<Detection[]>;

function watch(look: Look, devices: NativeDevice[] = devicesOf(1)) {
  const model = loadedModel();
  const log = vi.fn();
  const canary = new CanaryWatch({
    look: (_model, _picture, device) => look(device),
    devices: () => devices,
    judge: (_model, index, right) => {
      const device = devices.find((each) => each.index === index);
      if (device !== undefined) device.state = right ? 'ok' : 'failed_check';
    },
    picture: { data: new Uint8Array(3), width: 1, height: 1 },
    loaded: () => [model],
    minutes: 0,
    logger: { ...logger, error: log },
    answerWithinMs: 50,
  });
  return { model, canary, devices, log };
}

/** Indices with a gap, as where a GPU in between cannot be used. */
function devicesOf(count: number): NativeDevice[] {
  return Array.from({ length: count }, (_, place) => ({
    index: 2 * place,
    name: 'GPU',
    state: 'ok' as const,
    images: 0,
  }));
}

const states = (devices: NativeDevice[]) => devices.map(({ state }) => state);

describe('canary watch', () => {
  it('refuses a fresh blind model', async () => {
    const { model, canary } = watch(() => Promise.resolve([]));
    await expect(canary.admit(model)).rejects.toMatchObject({
      code: 'invalid_model',
      message: expect.stringContaining("Model 'a.pt' failed its self-check: it sees nothing"),
    });
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
