/** Numbers and times as a report words them. */

/** Digits in groups of three: `12 345`. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, '\u00a0');
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Up to one decimal, so that a box near its threshold is told from it. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

/** Unix seconds -> `2026-11-30 09:46:30 UTC`. */
export function universalTime(unix: number): string {
  return `${new Date(unix * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Seconds -> `4.2 s`, `3 min 5 s`, `2 h 3 min`. */
export function timeSpan(seconds: number): string {
  if (seconds < 60) return `${Number(seconds.toPrecision(2))} s`;
  const whole = Math.round(seconds);
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}

/** Images per second. */
export interface NetworkRates {
  run: number;
  /** With plain pixels of the same shapes, measured after the run. */
  alone: number;
}

/** `what`: the text names so what had the first rate. */
export function networkText({ run, alone }: NetworkRates, what = 'the run'): string {
  const share = `${((100 * run) / alone).toFixed(0)} %`;
  const ofRun =
    run > alone ? `more (${share}), so the machine did other work then` : `${share} of it`;
  return (
    `The network alone does ${alone.toPrecision(3)} images/s on plain pixels of these shapes, measured after the run: ` +
    `${what} had ${ofRun}.`
  );
}
