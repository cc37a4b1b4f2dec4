/** An end to waiting for a device. */
import { LatticeError } from '../../errors.js';

/** What `answer` gives; rejects with `model_not_ready` where it takes longer. */
export async function inTime<T>(answer: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new LatticeError('model_not_ready', `no answer within ${limitMs / 1000} s`));
    }, limitMs);
    timer.unref();
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}
