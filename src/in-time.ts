/** An end to waiting for what may never answer. */
import { LatticeError, type ErrorCode } from './errors.js';

/** What `answer` gives; rejects with `code` where it takes longer. */
export async function inTime<T>(answer: Promise<T>, limitMs: number, code: ErrorCode): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new LatticeError(code, `no answer within ${limitMs / 1000} s`));
    }, limitMs);
    timer.unref();
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}
