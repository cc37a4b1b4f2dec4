/** A folder with stored engines, made from the one that the native half writes in its own tests. */
import { createHash } from 'node:crypto';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/config.js';

export const SAMPLE_STEM = '4ba08634d87b82b07798c5d54cf621d8';
/** test/native/engine_cache/sealed_file_test.cc fails when the native half would write other bytes. */
export const SAMPLE = readFileSync(
  join(PACKAGE_ROOT, 'test/support/engines', `${SAMPLE_STEM}.engine`),
);

/** The sample with some header values changed, sealed again, under its own name; the stem. */
export function storeEngine(folder: string, changes: Record<string, string> = {}): string {
  const text = headerText(changes);
  const stem = stemOf(text);
  writeFile(folder, `${stem}.engine`, seal(text));
  return stem;
}

export function headerText(changes: Record<string, string>): string {
  let text = SAMPLE.toString('latin1', 88, 88 + SAMPLE.readUInt32LE(12));
  for (const [name, value] of Object.entries(changes)) {
    text = text.replace(new RegExp(`^${name}=.*$`, 'm'), () => `${name}=${value}`);
  }
  return text;
}

export function stemOf(text: string): string {
  const key = text.slice(0, text.indexOf('model_name='));
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

export function seal(text: string): Buffer {
  const plan = SAMPLE.subarray(88 + SAMPLE.readUInt32LE(12));
  const front = Buffer.from(SAMPLE.subarray(0, 56));
  front.writeUInt32LE(text.length, 12);
  const digest = createHash('sha256').update(front).update(text, 'latin1').digest();
  return Buffer.concat([front, digest, Buffer.from(text, 'latin1'), plan]);
}

/** Mode 0600, as the service has it. */
export function writeFile(folder: string, name: string, bytes: Buffer | string): void {
  writeFileSync(join(folder, name), bytes, { mode: 0o600 });
}

export function makeOld(folder: string, name: string, days: number): void {
  const time = new Date(Date.now() - days * 24 * 3600 * 1000);
  utimesSync(join(folder, name), time, time);
}
