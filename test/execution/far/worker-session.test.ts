/** The order of frames: an image that is announced, and nothing else, is the next frame. */
import { expect, it } from 'vitest';
import { WorkerSession } from '../../../src/execution/far/worker-session.js';
import type { DetectFrame } from '../../../src/execution/wire/frames.js';
import { ScriptedDetector } from '../../support/scripted-detector.js';
import { DEFAULT_PARAMETERS } from '../../../src/api/options.js';

const options = { modelName: 'm.pt', ...DEFAULT_PARAMETERS, classes: null };
const announcing = (lease: number, imageBytes: number): DetectFrame => ({
  type: 'detect',
  lease,
  request: { path: 'image', options, kind: 'sync' },
  imageBytes,
});

function open() {
  const detector = new ScriptedDetector();
  const session = new WorkerSession({
    detector,
    nodeId: 'node',
    modelDigests: () => ({}),
    send: () => undefined,
  });
  return { detector, session };
}

it('an image is run when it has come, not before', () => {
  const { detector, session } = open();
  expect(session.receive(announcing(1, 3))).toBe(true);
  expect(detector.requests).toEqual([]);
  expect(session.receiveImage(Buffer.from('abc'))).toBe(true);
  expect(detector.requests).toMatchObject([{ path: 'image', image: Buffer.from('abc') }]);
});

it('an image that nobody announced, or of another length, has no place', () => {
  expect(open().session.receiveImage(Buffer.from('abc'))).toBe(false);
  const { detector, session } = open();
  session.receive(announcing(1, 4));
  expect(session.receiveImage(Buffer.from('abc'))).toBe(false);
  expect(detector.requests).toEqual([]);
});

it('no text may come between an announcement and its image', () => {
  const { session } = open();
  session.receive(announcing(1, 3));
  expect(session.receive({ type: 'cancel', lease: 1 })).toBe(false);
});
