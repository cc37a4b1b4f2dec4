import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseReading, readGpu } from '../../../src/execution/here/nvidia-smi.js';

const MIB = 2 ** 20;

describe('what nvidia-smi printed', () => {
  // Recorded on these cards and drivers, most of them under load.
  test.each([
    [
      'H100, driver 590.48.01',
      '81559, 19818, 479, 100, 59, 631.95, 700.00, 1980, 0, Disabled, 0x0000000000000000',
      {
        memoryTotalBytes: 81559 * MIB,
        memoryUsedBytes: (19818 + 479) * MIB,
        utilisationPercent: 100,
        mig: false,
      },
      {
        temperatureCelsius: 59,
        powerWatts: 631.95,
        powerLimitWatts: 700,
        smClockMhz: 1980,
        uncorrectedMemoryErrors: 0,
      },
    ],
    [
      'H200 in MIG mode, driver 590.48.01',
      '143771, 16959, 614, [N/A], 36, 295.01, 700.00, 1980, 0, Enabled, 0x0000000000000000',
      { memoryTotalBytes: 143771 * MIB, utilisationPercent: null, mig: true, powerWatts: 295.01 },
      { uncorrectedMemoryErrors: 0, slowedBy: [] },
    ],
    [
      'L40S, driver 595.80',
      '46068, 1235, 609, 9, 54, 110.23, 350.00, 2520, 0, [N/A], 0x0000000000000000',
      { memoryUsedBytes: (1235 + 609) * MIB, utilisationPercent: 9, mig: null },
      { temperatureCelsius: 54 },
    ],
    [
      'GeForce RTX 2080 Super, driver 595.71.05',
      '8192, 214, 408, 0, 40, 39.32, 250.00, 765, [N/A], [N/A], 0x0000000000000004',
      { uncorrectedMemoryErrors: null, mig: null, slowedBy: ['power_cap'] },
      { smClockMhz: 765 },
    ],
    [
      'GeForce RTX 2080 Super, idle, driver 610.57.04',
      '8192, 211, 400, 0, 33, 39.17, 250.00, 765, [N/A], [N/A], 0x0000000000000001',
      { temperatureCelsius: 33, slowedBy: [] },
      {},
    ],
  ])('%s', (_card, line, some, others) => {
    expect(parseReading(line)).toMatchObject({ figures: { ...some, ...others }, reason: null });
  });

  test('every slowdown has its bit', () => {
    const unknown = Array<string>(10).fill('[N/A]').join(', ');
    const slowedBy = (bits: string) => parseReading(`${unknown}, ${bits}`).figures.slowedBy;
    expect(slowedBy('0x00000000000000FF')).toEqual([
      'power_cap',
      'thermal',
      'hardware_slowdown',
      'hardware_thermal',
      'power_brake',
    ]);
    for (const [bits, name] of [
      ['0x4', 'power_cap'],
      ['0x8', 'hardware_slowdown'],
      ['0x20', 'thermal'],
      ['0x40', 'hardware_thermal'],
      ['0x80', 'power_brake'],
    ] as const) {
      expect(slowedBy(bits)).toEqual([name]);
    }
    expect(slowedBy('0x0000000000000013')).toEqual([]);
  });

  test.each(['[N/A]', '[Not Supported]', 'N/A', '[Insufficient Permissions]', ''])(
    'a figure is null without a reason where it is told as "%s"',
    (absent) => {
      const { figures, reason } = parseReading(Array<string>(11).fill(absent).join(', '));
      const { slowedBy, ...others } = figures;
      expect(new Set(Object.values(others))).toEqual(new Set([null]));
      expect({ slowedBy, reason }).toEqual({ slowedBy: [], reason: null });
    },
  );

  test('a figure that fails has a reason; the others stay', () => {
    const line = '81559, [Unknown Error], 479, 100, [GPU is lost], 631.95, 700.00, 1980, 0, , 0x0';
    const { figures, reason } = parseReading(line);
    expect(figures).toMatchObject({
      memoryUsedBytes: null,
      temperatureCelsius: null,
      powerWatts: 631.95,
    });
    expect(reason).toBe('The driver fails at memory.used: Unknown Error.');
  });

  test('fewer or other words are no figures', () => {
    for (const line of ['', 'No devices were found', 'a, b, c', '1']) {
      expect(parseReading(line).figures).toMatchObject({
        powerWatts: null,
        mig: null,
        slowedBy: [],
      });
    }
  });
});

describe('running nvidia-smi', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lattice-smi-'));
    vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  function install(script: string): void {
    const program = join(folder, 'nvidia-smi');
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
  }

  test('one GPU is asked for, by its bus', async () => {
    install(
      `echo "$@" > ${folder}/args; echo '81559, 0, 479, 0, 41, 69.85, 700.00, 345, 0, Disabled, 0x1'`,
    );
    const { figures, reason } = await readGpu('0000:17:00.0');
    expect(reason).toBeNull();
    expect(figures).toMatchObject({
      temperatureCelsius: 41,
      memoryUsedBytes: 479 * MIB,
      mig: false,
    });
    expect(readFileSync(join(folder, 'args'), 'utf8')).toBe(
      '--id=0000:17:00.0 --query-gpu=memory.total,memory.used,memory.reserved,utilization.gpu,temperature.gpu,' +
        'power.draw,enforced.power.limit,clocks.sm,ecc.errors.uncorrected.volatile.total,mig.mode.current,' +
        'clocks_throttle_reasons.active --format=csv,noheader,nounits\n',
    );
  });

  test('a program that is missing is named, with what to do', async () => {
    vi.stubEnv('PATH', folder);
    await expect(readGpu('0000:17:00.0')).rejects.toThrow(
      /^nvidia-smi not found: it comes with the NVIDIA driver; in a container .*`utility`\.$/,
    );
  });

  test('its own words are the reason of a failure', async () => {
    install("echo 'No devices were found'; exit 6");
    await expect(readGpu('0000:17:00.0')).rejects.toThrow(
      /^nvidia-smi fails: No devices were found$/,
    );
    install("echo 'it broke' >&2; exit 255");
    await expect(readGpu('0000:17:00.0')).rejects.toThrow(/^nvidia-smi fails: it broke$/);
    install('exit 9');
    await expect(readGpu('0000:17:00.0')).rejects.toThrow(/^nvidia-smi fails: exit code 9$/);
  });

  test('one that does not answer is killed at the deadline', async () => {
    install(`echo $$ > ${folder}/pid; exec sleep 60`);
    await expect(readGpu('0000:17:00.0', 300)).rejects.toThrow(
      'nvidia-smi did not answer within 0.3 s; the driver may hang.',
    );
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
