/** Folders and port that the service would use. */
import { randomBytes } from 'node:crypto';
import { readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { Config } from '../../settings/config.js';
import { ApiKeys } from '../../http/access/api-keys.js';
import { ImageLister } from '../../files/listing/image-lister.js';
import { makeFolder } from '../../base/make-folder.js';
import { modelsFolderFault } from '../../settings/setting-folders.js';
import { pathFault } from '../../base/path-fault.js';
import { fail, ok, warn, type Finding } from './finding.js';

/** statfs types of file systems without dependable locks and shared memory, which the job store needs. */
const REMOTE_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x5346414f, 'AFS'],
]);
const LOW_SPACE = 1024 ** 3;

export async function checkImageRoots(roots: readonly string[]): Promise<Finding[]> {
  if (roots.length === 0) {
    return [fail('image root', 'none is set', 'LATTICE_IMAGE_ROOTS=/folder/with/images')];
  }
  const lister = new ImageLister();
  return Promise.all(
    roots.map(async (root) => {
      if (!(await answers(lister, root))) {
        const fix = 'look after its volume: a network share whose server is gone, for example';
        return fail('image root', `${root} does not answer`, fix);
      }
      try {
        const entries = await readdir(root);
        return ok('image root', `${root} (${entries.length} entries)`);
      } catch (error) {
        const fix = `mkdir -p ${root} (or set LATTICE_IMAGE_ROOTS); it must be readable by this user`;
        return fail('image root', pathFault(error, root, 'read'), fix);
      }
    }),
  );
}

/** False where a call does not come back; in another process, or this one could not end. */
async function answers(lister: ImageLister, root: string): Promise<boolean> {
  return lister.kindOf({ root, relative: '.' }, 5_000).then(
    () => true,
    () => false,
  );
}

/** The bundled models serve without it. */
export async function checkModelsDir(modelsDir: string): Promise<Finding[]> {
  const fault = await modelsFolderFault(modelsDir);
  if (fault === null) return [];
  const fix = 'make or mount it, readable by this user, or correct LATTICE_MODELS_DIR';
  return [warn('models folder', pathFault(fault, modelsDir, 'read'), fix)];
}

/** Makes the folder, as the service would. */
export async function checkDataDir(dataDir: string): Promise<Finding> {
  const probe = join(dataDir, `.doctor-${randomBytes(4).toString('hex')}`);
  try {
    makeFolder(dataDir);
    await writeFile(probe, '');
    await rm(probe);
  } catch (error) {
    const fix = `make ${dirname(dataDir)} writable, or set LATTICE_DATA_DIR`;
    return fail('data folder', pathFault(error, dataDir, 'write'), fix);
  }
  const { type, bavail, bsize } = await statfs(dataDir);
  const remote = REMOTE_FILE_SYSTEMS.get(type);
  if (remote !== undefined) {
    const fix = 'point LATTICE_DATA_DIR at a local disk';
    return fail('data folder', `${dataDir} lies on ${remote}, where a job store breaks`, fix);
  }
  const free = bavail * bsize;
  const detail = `${dataDir}, ${(free / 1024 ** 3).toFixed(1)} GiB free`;
  return free < LOW_SPACE
    ? warn('data folder', detail, 'free some space, or set LATTICE_DATA_DIR')
    : ok('data folder', detail);
}

export async function checkPort(host: string, port: number): Promise<Finding> {
  const place = `${host}:${port}`;
  if (port === 0) return ok('port', `a free one on ${host}`);
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    return ok('port', `${place} is free`);
  } catch (error) {
    const taken = REFUSED_PORT[codeOf(error)] ?? `cannot be used (${codeOf(error)})`;
    return fail('port', `${place} ${taken}`, `lattice serve --port ${port + 1} (or LATTICE_PORT)`);
  } finally {
    server.close();
  }
}

/** Authentication where it matters. */
export function checkAccess(
  config: Pick<Config, 'env' | 'apiKeysFile' | 'webhookSecret'>,
): Finding[] {
  const findings = config.apiKeysFile === '' ? [] : [checkApiKeys(config.apiKeysFile)];
  if (config.env !== 'production') return findings;
  if (config.apiKeysFile === '') {
    const fix = 'LATTICE_API_KEYS_FILE=/etc/lattice/keys';
    findings.push(fail('API keys', 'production demands them', fix));
  }
  const fix = 'LATTICE_WEBHOOK_SECRET="whsec_$(openssl rand -base64 32)"';
  if (config.webhookSecret === '')
    findings.push(warn('webhook secret', 'webhooks are unsigned', fix));
  return findings;
}

function checkApiKeys(file: string): Finding {
  try {
    ApiKeys.readFile(file);
    return ok('API keys', file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const fix = 'a file that this user can read, with one key of 16 characters or more a line';
    return fail('API keys', reason, fix);
  }
}

const REFUSED_PORT: Record<string, string> = {
  EADDRINUSE: 'is in use',
  EACCES: 'needs a privilege, as every port below 1024',
  EADDRNOTAVAIL: 'is no address of this machine',
};

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
