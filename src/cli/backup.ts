/** `lattice backup` and `lattice restore`: the jobs of a data folder in one file. */
import { constants, setPriority } from 'node:os';
import { amount } from '../api/quotas.js';
import { STANDARD_OUTPUT } from '../base/output-place.js';
import type { Backup } from '../backup/back-up.js';
import type { Restored } from '../backup/restore.js';
import { examples } from './command-options.js';
import { addSettingFlags, configOf } from './setting-flags.js';
import { UsageError, type RegisterCommand } from './terminal.js';
import { untilSignal } from './until-signal.js';

interface BackupFlags {
  force?: boolean;
  pictures: boolean;
}

interface RestoreFlags {
  force?: boolean;
  check?: boolean;
}

const BACKUP_MORE = `
The service may run meanwhile: the file has every job that was acknowledged before the command began, as it was at one
moment. FILE appears when it is complete and on disk; it is a tar with the database, the drawn pictures, the photos that
were sent, and their SHA-256 sums. Settings, API keys, models and the photos of the image folders are not in it.
`;

const RESTORE_MORE = `
Stop the service first. The backup is read and checked before anything is changed. Jobs that had not ended at the backup
go on at the next start, and webhooks that were pending then are sent again.
`;

export const registerBackup: RegisterCommand = (program, terminal) => {
  const onProgress = (text: string) => terminal.progress?.(text);
  const standardOutput = (part: Uint8Array) => terminal.write(part);
  const command = program
    .command('backup')
    .description('save the jobs and their pictures to a file, while the service runs or without it')
    .argument('<file>', 'the backup to write; -: standard output')
    .option('-f, --force', 'replace the file if it is there')
    .option('--no-pictures', 'leave out drawn pictures and photos that were sent')
    .addHelpText('after', BACKUP_MORE + examples('backup /mnt/backups/jobs.tar --force'))
    .action(async (file: string, flags: BackupFlags) => {
      const { backUp } = await import('../backup/back-up.js');
      const { dataDir } = configOf(flags);
      const { pictures, force: replace = false } = flags;
      if (file === STANDARD_OUTPUT && terminal.isScreen) {
        throw new UsageError(
          'A backup is a tar archive, which a terminal cannot show: name a file, or redirect the output.',
        );
      }
      // The service beside it comes first.
      setPriority(constants.priority.PRIORITY_LOW);
      const backup = await untilSignal(terminal, (signal) =>
        backUp({ dataDir, file, pictures, replace, signal, onProgress, standardOutput }),
      );
      if (backup === null) terminal.err('The backup was stopped; nothing was kept.');
      else {
        const line = `${file}: ${contentsOf(backup, backup.pictures)}, ${sizeOf(backup)}.`;
        if (backup.isPrinted) terminal.err(line);
        else terminal.out(line);
      }
    });
  addSettingFlags(command, ['dataDir']);
};

export const registerRestore: RegisterCommand = (program, terminal) => {
  const onProgress = (text: string) => terminal.progress?.(text);
  const command = program
    .command('restore')
    .description('put the jobs of a backup into the data folder of a stopped service')
    .argument('<file>', 'a file that `lattice backup` has written')
    .option('-f, --force', 'move jobs that are there aside, into a folder of the data folder')
    .option('--check', 'only read the file, and say whether it is whole')
    .addHelpText('after', RESTORE_MORE + examples('restore jobs.tar --data-dir /var/lib/lattice'))
    .action(async (file: string, flags: RestoreFlags) => {
      const { checkBackup, restore } = await import('../backup/restore.js');
      const { dataDir } = configOf(flags);
      const { force: moveAside = false, check } = flags;
      const restored = await untilSignal<Omit<Restored, 'aside'> & Partial<Restored>>(
        terminal,
        (signal) =>
          check === true
            ? checkBackup(file, signal)
            : restore({ dataDir, file, moveAside, signal, onProgress }),
      );
      if (restored === null) {
        terminal.err('The restore was stopped; nothing was changed.');
        return;
      }
      const contents = contentsOf(restored.about, restored.pictures);
      terminal.out(check === true ? `${file} is whole: ${contents}.` : `${dataDir}: ${contents}.`);
      if (typeof restored.aside === 'string') {
        terminal.out(`What was there before lies in ${restored.aside}.`);
      }
    });
  addSettingFlags(command, ['dataDir']);
};

function contentsOf(about: Restored['about'] | Backup, pictures: number): string {
  const { jobs, unfinished_jobs: unfinished, pending_webhooks: webhooks, created_at: at } = about;
  const time = new Date(at * 1000).toISOString();
  return (
    `${counted(jobs, 'job')} as of ${time} (${unfinished} not ended, ${counted(webhooks, 'webhook')} pending), ` +
    counted(pictures, 'picture')
  );
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

const sizeOf = ({ bytes }: Backup) => amount(bytes, 'bytes');
