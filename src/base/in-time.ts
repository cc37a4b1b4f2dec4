/** The result of `answer`, or `late` when it takes longer than `limitMs`. */
export async function inTime<T, L>(answer: Promise<T>, limitMs: number, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<L>((resolve) => {
    timer = setTimeout(resolve, limitMs, late);
  });
  try {
    return await Promise.race([answer, limit]);
  } finally {
    clearTimeout(timer);
  }
}
