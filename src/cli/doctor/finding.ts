/** One line of `lattice doctor`. */
export interface Finding {
  name: string;
  /** warn: it runs, but not as well or as safely as it could. fail: it does not run. */
  state: 'ok' | 'warn' | 'fail';
  detail: string;
  /** Command or setting that mends it; there for every warn and fail. */
  fix?: string;
}

export function ok(name: string, detail: string): Finding {
  return { name, state: 'ok', detail };
}

export function warn(name: string, detail: string, fix: string): Finding {
  return { name, state: 'warn', detail, fix };
}

export function fail(name: string, detail: string, fix: string): Finding {
  return { name, state: 'fail', detail, fix };
}
