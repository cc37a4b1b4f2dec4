/** Runs all pictures of folders as the jobs of one run folder, wherever their service is. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../base/make-folder.js';
import { untilSignal } from '../until-signal.js';
import { checkedRunFolder } from './named-files.js';
import type { RunPlace, RunRequest } from './run-service.js';
import { runToEnd, type RunFlags } from './run-to-end.js';
import { askToMove, continueMove } from './sort-pictures.js';

/** Sets the exit code. Rejects with `UsageError` for a folder that cannot be written. */
export async function runFolders(
  { named, folder, flags: given, terminal }: RunRequest & { flags: RunFlags },
  { stopping, serve }: RunPlace,
): Promise<void> {
  await askToMove(given, terminal);
  await checkedRunFolder(folder, async (out) => {
    makeFolder(out);
    await access(out, constants.W_OK | constants.X_OK);
    makeFolder(join(out, 'data'));
  });
  if (await continueMove(folder, given.sort, terminal)) return;
  const flags = { ...given, reuse: given.reuse ?? 'unchanged' };
  const request = { named, folder, flags, terminal };
  await untilSignal(terminal, async (signal) => {
    const stop = new AbortController();
    signal.addEventListener('abort', () => {
      terminal.err(stopping);
      stop.abort(null);
    });
    await serve(request, stop, (service) => runToEnd({ ...request, service, stop }));
  });
}
