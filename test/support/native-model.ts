/** A loaded model as the addon describes it, without an addon. */
import type { NativeModel } from '../../src/native/contract.js';

export function nativeModel(more: Partial<NativeModel> = {}): NativeModel {
  return {
    modelId: 1,
    task: 'detect',
    names: ['car'],
    inputWidth: 640,
    inputHeight: 640,
    fixedBatch: 0,
    rectangles: [],
    without: [],
    layout: 'scales',
    sha256: '0123456789abcdef'.repeat(4),
    device: 'CPU',
    precision: 'f32',
    memoryBytes: 0,
    engines: [],
    keptFile: null,
    wasKept: false,
    replaced: [],
    stride: 32,
    metadata: {},
    ...more,
  };
}
