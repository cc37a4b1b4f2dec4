import { totalmem } from 'node:os';
import { describe, expect, it } from 'vitest';
import { lookAheadBytes, machineMemory } from '../../src/models/machine-memory.js';

describe('memory of the machine', () => {
  it('is no more than there is, and a container says less', () => {
    expect(machineMemory()).toBeLessThanOrEqual(totalmem());
    expect(machineMemory()).toBeGreaterThan(0);
    const limit = process.constrainedMemory();
    if (limit > 0) expect(machineMemory()).toBeLessThanOrEqual(limit);
  });

  it('leaves an eighth to decoded pixels', () => {
    expect(Number.isInteger(lookAheadBytes())).toBe(true);
    expect(lookAheadBytes() / machineMemory()).toBeCloseTo(1 / 8, 6);
  });
});
