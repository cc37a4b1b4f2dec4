/** Says once per run which tests the machine cannot run. */
import { hasTestdata } from './service-process.js';

export function setup(): void {
  if (hasTestdata) return;
  console.warn('Left out: tests on the photos and models of ../shared/testdata, which is absent.');
}
