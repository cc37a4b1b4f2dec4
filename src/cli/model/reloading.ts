/** Lets a running service take model files that have changed. */
import { openClient, type AccessFlags } from '../job/open-client.js';
import { renderTable } from '../output-text.js';
import type { Terminal } from '../terminal.js';

/** Exit code 1 where a loaded model goes on because the file that has replaced its own cannot be used. */
export async function reloadModels(flags: AccessFlags, terminal: Terminal): Promise<void> {
  const models = await openClient(flags).reloadModels();
  const loaded = models.filter(({ digest }) => digest !== null);
  const kept = loaded.filter(({ reason }) => reason !== null);
  if (flags.json === true) terminal.out(JSON.stringify(models, null, 2));
  else {
    const rows = loaded.map(({ name, digest, precision }) => [name, digest ?? '', precision ?? '']);
    for (const line of renderTable([['LOADED', 'DIGEST', 'PRECISION'], ...rows]))
      terminal.out(line);
  }
  for (const { name, reason } of kept) terminal.err(`${name}: ${reason ?? ''}`);
  if (kept.length > 0) terminal.setExitCode(1);
}
