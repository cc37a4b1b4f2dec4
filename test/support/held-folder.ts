/** A folder on a volume that does not answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./hold-folder.py', import.meta.url));

export interface HeldFolder extends AsyncDisposable {
  /** The volume answers again; idempotent. */
  release(): Promise<void>;
}

/** Blocks every open of the folder and of files in it. Null, with the reason printed, if only root may do that. */
export async function holdFolder(path: string): Promise<HeldFolder | null> {
  const child = spawn('python3', [SCRIPT, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  const release = async () => {
    child.stdin.end();
    await exited;
  };
  const answer = said.toString().trim();
  if (answer === 'held') return { release, [Symbol.asyncDispose]: release };
  await release();
  console.warn(`Left out: volumes that hang: no folder can be held up here (${answer}).`);
  return null;
}
