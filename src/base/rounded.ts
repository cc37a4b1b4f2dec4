/** Numbers as answers and files have them: without the digits of their binary form. */

/** The number with at most so many decimals. */
export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}

/** Milliseconds to the microsecond; done for each image. */
export const toMicros = (ms: number): number => Math.round(ms * 1e3) / 1e3;
