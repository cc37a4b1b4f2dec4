/** Aliases of a running service: listed, set, promoted, taken back, and how well a shadow agrees. */
import type { Agreement, Alias } from '../../client/records.js';
import { openClient, type AccessFlags } from '../job/open-client.js';
import { timeText } from '../job/showing.js';
import { renderTable } from '../output-text.js';
import { EXIT_FAILED, Refusal, UsageError, type Terminal } from '../terminal.js';
import { agreementLines, sharePercent, shareText } from './agreement-lines.js';

export interface SetFlags extends AccessFlags {
  canary?: string;
  share?: number;
  shadow?: string;
}

export async function listAliases(flags: AccessFlags, terminal: Terminal): Promise<void> {
  const aliases = await openClient(flags).aliases.list();
  if (flags.json === true) terminal.out(JSON.stringify(aliases));
  else if (aliases.length === 0) terminal.err('There is no alias.');
  else printRows(aliases, terminal);
}

/** Replaces the alias whole: a canary and a shadow that are not named end. */
export async function setAlias(
  name: string,
  model: string,
  flags: SetFlags,
  terminal: Terminal,
): Promise<void> {
  const { canary, share, shadow = null } = flags;
  if ((canary === undefined) !== (share === undefined)) {
    throw new UsageError(
      '--canary and --share go together: a model, and its share of the requests.',
    );
  }
  const trial = canary === undefined || share === undefined ? null : { model: canary, share };
  const alias = { model, canary: trial, shadow };
  print(await openClient(flags).aliases.put(name, alias), flags, terminal);
}

export interface PromoteFlags extends AccessFlags {
  force?: boolean;
}

/**
 * A shadow that something speaks against, or of which too little is known, needs `force` or a yes. Rejects with
 * `Refusal` without.
 */
export async function promoteAlias(
  name: string,
  flags: PromoteFlags,
  terminal: Terminal,
): Promise<void> {
  const { aliases } = openClient(flags);
  const { canary, shadow } = await aliases.get(name);
  if (canary === null && shadow !== null && flags.force !== true) {
    const objection = objectionTo(await aliases.agreement(name));
    const question = `${objection} Promote ${shadow} all the same?`;
    if (objection !== null && (await terminal.confirm?.(question)) !== true) {
      throw new Refusal(`${objection} The alias is as before; --force promotes ${shadow}.`);
    }
  }
  print(await aliases.promote(name), flags, terminal);
}

export async function rollBackAlias(
  name: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  print(await openClient(flags).aliases.rollBack(name), flags, terminal);
}

export async function removeAlias(
  name: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  await openClient(flags).aliases.remove(name);
  if (flags.json !== true) terminal.err(`The alias ${name} is deleted; its models stay.`);
}

/**
 * Exit code 1 where anything speaks against the shadow or too little is known of it, for scripts that promote it
 * otherwise.
 */
export async function showAgreement(
  name: string,
  flags: AccessFlags,
  terminal: Terminal,
): Promise<void> {
  const agreement = await openClient(flags).aliases.agreement(name);
  if (flags.json === true) terminal.out(JSON.stringify(agreement));
  else for (const line of linesOf(agreement)) terminal.out(line);
  const objection = objectionTo(agreement);
  if (objection === null) return;
  terminal.err(objection);
  terminal.setExitCode(EXIT_FAILED);
}

function objectionTo({ flagged, failed, shadow, latest_share: share }: Agreement): string | null {
  if (flagged) return 'Flagged: fewer than 90 % of the boxes of the latest 50 pictures agree.';
  if (failed > 0) return `Not to be promoted: ${shadow} has failed on ${failed} pictures.`;
  if (share === null) return 'Too early to judge: the latest pictures have fewer than 20 boxes.';
  return null;
}

const HEADER = ['ALIAS', 'MODEL', 'CANARY', 'SHADOW', 'VERSION', 'SINCE'];

function print(alias: Alias, flags: AccessFlags, terminal: Terminal): void {
  if (flags.json === true) terminal.out(JSON.stringify(alias));
  else printRows([alias], terminal);
}

function printRows(aliases: readonly Alias[], terminal: Terminal): void {
  const rows = aliases.map(({ name, model, canary, shadow, version, stored_at: at }) => [
    ...[name, model, canary === null ? '-' : `${canary.model} ${sharePercent(canary.share)}`],
    ...[shadow ?? '-', String(version), timeText(at)],
  ]);
  for (const line of renderTable([HEADER, ...rows])) terminal.out(line);
}

function linesOf(agreement: Agreement): string[] {
  const { model, shadow, images, dropped, failed, share, all, least } = agreement;
  const { last_error: error } = agreement;
  const timeOf = (ms: number) => (images === 0 ? '-' : `${ms.toFixed(1)} ms`);
  const rowOf = ({ score_shift: scoreShift, ...row }: Agreement['all'] & { of?: string }) => ({
    of: null,
    ...row,
    scoreShift,
  });
  return [
    ...renderTable([
      ['MODEL', 'TIME'],
      [`first: ${model}`, timeOf(agreement.model_ms)],
      [`second: ${shadow}`, timeOf(agreement.shadow_ms)],
    ]),
    '',
    `${shareText(images, share, all)}; ${dropped} were dropped, ${failed} have failed.`,
    ...(error === null ? [] : [`The last failure: ${error}`]),
    '',
    ...agreementLines({
      all: rowOf(all),
      byClass: agreement.by_class.map(rowOf),
      bySize: agreement.by_size.map(rowOf),
      least: least.map(({ image_path: picture, ...each }) => ({ ...each, picture })),
    }),
  ];
}
