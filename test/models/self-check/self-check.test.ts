/** The self-check of a fresh model, and the rounds over the loaded ones. */
import { afterEach, expect, it, vi } from 'vitest';
import { LatticeError } from '../../../src/api/errors.js';
import {
  BLIND,
  BOX,
  loadedModel,
  selfCheckOf,
  type CheckParts,
} from '../../support/watched-model.js';

function check(run: CheckParts['run'] = () => Promise.resolve(BOX)) {
  const model = loadedModel();
  const loaded = [model];
  const log = vi.fn();
  const parts: CheckParts = { run, loaded: () => loaded, log };
  return { model, loaded, log, parts, selfCheck: selfCheckOf(parts) };
}

afterEach(() => {
  vi.useRealTimers();
});

it('refuses a fresh blind model', async () => {
  const { model, selfCheck } = check(() => Promise.resolve(BLIND));
  await expect(selfCheck.admit(model)).rejects.toMatchObject({
    code: 'invalid_model',
    message: expect.stringContaining("Model 'a.pt' failed its self-check: it sees nothing"),
  });
});

it('takes a fresh model that finds nothing there if its file leaves out low scores', async () => {
  const { model, selfCheck } = check(() => Promise.resolve(BLIND));
  model.native.layout = 'final';
  model.native.rectangles = [{ width: 640, height: 320 }];
  await selfCheck.admit(model);
  await selfCheck.checkAll();
  expect(model.distrust).toBeNull();
});

it('refuses a fresh model whose rows are not what its layout says', async () => {
  const { model, selfCheck } = check(({ everyRow }) =>
    Promise.resolve(everyRow === true ? Float32Array.of(0.1, 0.1, 0.4, 0.5, 0.9, 0) : BOX),
  );
  model.native.layout = 'final';
  await expect(selfCheck.admit(model)).rejects.toMatchObject({
    code: 'invalid_model',
    message: expect.stringContaining('all its boxes lie between 0 and 1'),
  });
});

it('refuses a fresh model that is blind at one of its inputs, and says at which', async () => {
  const heights: number[] = [];
  const { model, log, selfCheck } = check(({ pixels: { height } }) => {
    heights.push(height);
    return Promise.resolve(height === 32 ? BLIND : BOX);
  });
  model.native.rectangles = [{ width: 640, height: 320 }];
  const fault = expect.stringMatching(/at 640 x 320 it sees nothing/) as string;
  await expect(selfCheck.admit(model)).rejects.toMatchObject({
    code: 'invalid_model',
    message: fault,
  });
  // The whole picture has the shape of the first input.
  expect(heights).toEqual([64, 32]);
  expect(log).toHaveBeenCalledWith({ model: 'a.pt', fault }, 'self-check failed');
});

it('does not hold an error of the run against the file', async () => {
  const { model, selfCheck } = check(() =>
    Promise.reject(new LatticeError('detection_failed', 'it broke')),
  );
  await expect(selfCheck.admit(model)).rejects.toMatchObject({ code: 'detection_failed' });
});

it('distrusts a model that goes blind and trusts it again once it sees', async () => {
  const { model, parts, selfCheck } = check();
  await selfCheck.admit(model);
  await selfCheck.checkAll();
  expect(model.distrust).toBeNull();
  parts.run = () => Promise.resolve(BLIND);
  await selfCheck.checkAll();
  expect(model.distrust).toMatchObject({ code: 'model_not_ready' });
  parts.run = () => Promise.resolve(BOX);
  await selfCheck.checkAll();
  expect(model.distrust).toBeNull();
});

it('distrusts a device that gives an error', async () => {
  const { model, parts, selfCheck } = check();
  await selfCheck.admit(model);
  parts.run = () => Promise.reject(new LatticeError('detection_failed', 'engine broke'));
  await selfCheck.checkAll();
  expect(model.distrust?.message).toContain('engine broke');
});

it('finds a device that hangs', async () => {
  vi.useFakeTimers();
  const { model, parts, selfCheck } = check();
  await selfCheck.admit(model);
  parts.run = () => new Promise(() => undefined);
  const round = selfCheck.checkAll();
  await vi.advanceTimersByTimeAsync(60_000);
  await round;
  expect(model.distrust?.message).toContain('no answer within 60 s');
});

it.each(['shutting_down', 'overloaded'] as const)('draws no conclusion from %s', async (code) => {
  const { model, log, parts, selfCheck } = check();
  await selfCheck.admit(model);
  parts.run = () => Promise.reject(new LatticeError(code, 'Not now.'));
  await selfCheck.checkAll();
  expect(model.distrust).toBeNull();
  expect(log).not.toHaveBeenCalled();
});

it('says nothing of a model that is unloaded during its check, nor checks one that is gone', async () => {
  const { model, loaded, log, parts, selfCheck } = check();
  const second = loadedModel('b.pt', 2);
  await selfCheck.admit(model);
  await selfCheck.admit(second);
  loaded.push(second);
  const run = vi.fn(() => {
    loaded.length = 0;
    return Promise.reject(new LatticeError('unknown_model', 'There is no such model.'));
  });
  parts.run = run;
  await selfCheck.checkAll();
  expect(run).toHaveBeenCalledOnce();
  expect(log).not.toHaveBeenCalled();
});

it('ends in silence when it is stopped and the core closes beneath it', async () => {
  const { model, loaded, log, parts, selfCheck } = check();
  loaded.push(loadedModel('b.pt', 2));
  for (const each of loaded) await selfCheck.admit(each);
  const run = vi.fn(() => {
    selfCheck.stop();
    return Promise.reject(new LatticeError('detection_failed', 'closed'));
  });
  parts.run = run;
  await selfCheck.checkAll();
  expect(run).toHaveBeenCalledOnce();
  expect(log).not.toHaveBeenCalled();
  expect(model.distrust).toBeNull();
});
