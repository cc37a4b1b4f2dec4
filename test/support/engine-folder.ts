/** A folder with stored engines, made from the one that the native half writes in its own tests. */
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { PACKAGE_ROOT } from '../../src/base/package.js';

export const SAMPLE_STEM = '9f86d081884c-8f83d88e';
/** test/native/engine_cache/checked_file_test.cc fails when the native half would write other bytes. */
export const SAMPLE = readFileSync(
  join(PACKAGE_ROOT, 'test/support/engines', `${SAMPLE_STEM}.engine`),
);
export const TEXT_END = 32 + SAMPLE.readUInt32LE(12);

/** The sample's header. */
export const SAMPLE_HEADER = JSON.parse(SAMPLE.toString('utf8', 32, TEXT_END)) as Record<
  string,
  unknown
>;

/** The sample with some header values changed, under a name of its own; the stem. */
export function storeEngine(folder: string, changes: Record<string, unknown> = {}): string {
  const text = JSON.stringify({ ...SAMPLE_HEADER, ...changes });
  const changed = crc32(text).toString(16).padStart(8, '0');
  const stem =
    Object.keys(changes).length === 0 ? SAMPLE_STEM : `${SAMPLE_STEM.slice(0, 12)}-${changed}`;
  writeFile(folder, `${stem}.engine`, withHeader(text));
  return stem;
}

/** An engine file with this header and the sample's plan. */
export function withHeader(text: string): Buffer {
  const preamble = Buffer.from(SAMPLE.subarray(0, 32));
  const bytes = Buffer.from(text);
  preamble.writeUInt32LE(bytes.length, 12);
  preamble.writeUInt32LE(crc32(bytes, crc32(preamble.subarray(0, 28))), 28);
  return Buffer.concat([preamble, bytes, SAMPLE.subarray(TEXT_END)]);
}

/** Mode 0600, as the service has it. */
export function writeFile(folder: string, name: string, bytes: Buffer | string): void {
  writeFileSync(join(folder, name), bytes, { mode: 0o600 });
}

export function makeOld(folder: string, name: string, days: number): void {
  const time = new Date(Date.now() - days * 24 * 3600 * 1000);
  utimesSync(join(folder, name), time, time);
}
