/** `lattice usage`: what an API key has at a running service, and how much it may have. */
import { amount, QUOTAS } from '../api/quotas.js';
import type { Usage } from '../client/lattice-client.js';
import { serviceCommand } from './command-options.js';
import type { AccessFlags } from './job/open-client.js';
import type { RegisterCommand } from './terminal.js';

export const registerUsage: RegisterCommand = (program, terminal) => {
  serviceCommand(program, {
    name: 'usage',
    description:
      'what the API key has of store, uploads, queue and watches, and may have; an admin sees all keys',
    json: 'print the record',
    calls: ['--api-key-file my-key'],
  }).action(async (flags: AccessFlags) => {
    const [{ openClient }, { renderTable }] = await Promise.all([
      import('./job/open-client.js'),
      import('./output-text.js'),
    ]);
    const usage = await openClient(flags).usage();
    if (flags.json === true) terminal.out(JSON.stringify(usage));
    else for (const line of renderTable([HEAD, ...usage.keys.flatMap(rowsOf)])) terminal.out(line);
  });
};

const HEAD = ['key', 'of', 'has', 'limit', 'fair share', 'whole'];

function rowsOf({ key, name, quotas }: Usage['keys'][number]): string[][] {
  return quotas.map(({ quota, used, limit, fair_share: share, whole }) => {
    const shown = [used, limit, share, whole].map((value) =>
      value === null ? '-' : amount(value, QUOTAS[quota].unit),
    );
    return [name ?? key ?? '-', quota, ...shown];
  });
}
