import { describe, expect, it } from 'vitest';
import { LatticeError } from '../../src/errors.js';
import { CanaryWatch } from '../../src/inference/canary-watch.js';
import { ClassFilter } from '../../src/inference/class-filter.js';
import type { Detection } from '../../src/inference/detector.js';
import type { LoadedModel } from '../../src/inference/loaded-model.js';

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
  };
}

function watch(look: () => Promise<Detection[]>) {
  const model = loadedModel();
  const picture = { data: new Uint8Array(3), width: 1, height: 1 };
  const options = { look, picture, loaded: () => [model], minutes: 0, logger, answerWithinMs: 50 };
  return { model, canary: new CanaryWatch(options) };
}

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
