/**
 * Marks of a row of the key file: `KEY [admin store=25% requests=50] NAME`. They stand in brackets right behind the
 * key, so that no name is read as one.
 */
import { QUOTA_NAMES, QUOTAS, type QuotaName } from '../../api/quotas.js';
import type { KeyLimits } from '../../store/allowances.js';

export interface KeyRights {
  /** True: the key may change things that all keys share: models and aliases. */
  isAdmin: boolean;
  /** True: the key may read the metrics and nothing else. */
  isForMetrics: boolean;
  quotas: KeyLimits;
}

const ADMIN = 'admin';
const METRICS = 'metrics';
const NO_RIGHTS: KeyRights = { isAdmin: false, isForMetrics: false, quotas: {} };
const MARK = /^([a-z]+)=(\d+(?:\.\d+)?)(%?)$/;

/** The text of a row behind its key. Throws an `Error` that says what is wrong. */
export function readMarks(text: string): { rights: KeyRights; name: string } {
  if (!text.startsWith('[')) return { rights: NO_RIGHTS, name: text };
  const end = text.indexOf(']');
  if (end === -1) throw new Error("the marks behind the key end with ']'");
  const marks = text
    .slice(1, end)
    .split(/[\s,]+/)
    .filter((mark) => mark !== '');
  const twice = marks.map(nameOf).find((name, at, names) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`the mark '${twice}' stands there twice`);
  const isForMetrics = marks.includes(METRICS);
  if (isForMetrics && marks.length > 1) {
    throw new Error(`a key with the mark '${METRICS}' reads metrics only and has no other mark`);
  }
  const quotas = marks.filter((mark) => mark !== ADMIN && mark !== METRICS).map(readQuota);
  return {
    rights: {
      isAdmin: marks.includes(ADMIN),
      isForMetrics,
      quotas: Object.fromEntries(quotas),
    },
    name: text.slice(end + 1).trim(),
  };
}

function readQuota(mark: string): [QuotaName, number] {
  const quota = QUOTA_NAMES.find((name) => name === nameOf(mark));
  if (quota === undefined) {
    throw new Error(
      `'${mark}' is no mark. Marks are ${[ADMIN, METRICS, ...QUOTA_NAMES.map(exampleOf)].join(', ')}; a name does not begin with '['`,
    );
  }
  const [, , digits = '', percent] = MARK.exec(mark) ?? [];
  const isShare = QUOTAS[quota].kind === 'share';
  const value = Number(digits) / (isShare ? 100 : 1);
  if (digits === '' || (percent === '%') !== isShare || value <= 0 || (isShare && value > 1)) {
    const right = isShare ? 'above 0% and at most 100%' : 'a number above 0';
    throw new Error(`'${mark}' has no value that it can have: ${right}, as in ${exampleOf(quota)}`);
  }
  return [quota, value];
}

const nameOf = (mark: string): string => mark.split('=', 1)[0] ?? '';

function exampleOf(quota: QuotaName): string {
  return `${quota}=${QUOTAS[quota].kind === 'share' ? '25%' : '50'}`;
}
