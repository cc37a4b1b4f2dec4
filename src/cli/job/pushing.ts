/** `lattice job push`: the pictures of a job with their boxes, into a project of Label Studio. */
import type { JobImagesQuery, LatticeClient } from '../../client/lattice-client.js';
import { relativeName } from '../../export/export-source.js';
import { addressesAt } from '../../export/labelstudio.js';
import { ToolError } from '../../labelling/calls.js';
import { LabelStudio } from '../../labelling/label-studio.js';
import { push, type PushCounts, type PushSource } from '../../labelling/push.js';
import { labelStudioKey } from '../../settings/config.js';
import { Progress } from '../progress.js';
import { EXIT_PARTLY, Refusal, UsageError, type Terminal } from '../terminal.js';
import { untilSignal } from '../until-signal.js';
import { openClient } from './open-client.js';
import type { PushFlags } from './push-flags.js';

export async function pushJob(jobId: string, flags: PushFlags, terminal: Terminal): Promise<void> {
  const tool = openLabelStudio(flags);
  const client = openClient(flags);
  const { completed_at: end } = await client.status(jobId);
  if (end === null)
    throw new Refusal(`${jobId} has not ended: \`lattice job watch\` waits for it.`);
  const job = await pushedJob(client, jobId, flags);
  const progress = new Progress(terminal, job.images);
  const reasons: string[] = [];
  const counts = await untilSignal(terminal, (signal) =>
    push(job, tool, {
      limit: flags.limit,
      batch: flags.batch,
      signal,
      onStep: () => {
        progress.step();
      },
      onReason: (reason) => {
        if (!reasons.includes(reason)) terminal.err(reason);
        reasons.push(reason);
      },
    }),
  ).catch((error: unknown) => {
    throw error instanceof ToolError ? new Refusal(error.message) : error;
  });
  if (counts === null) {
    terminal.err('Stopped. The same command sends what is missing.');
    return;
  }
  tell(jobId, counts, flags, terminal);
  if (reasons.length > 0 || counts.notSent > 0 || counts.doubled > 0) {
    terminal.setExitCode(EXIT_PARTLY);
  }
}

function openLabelStudio(flags: PushFlags): LabelStudio {
  const access = { url: flags.to, key: labelStudioKey(), project: flags.project };
  const limits = {
    deadlineMs: flags.deadline * 1000,
    rate: flags.rate,
    tries: flags.tries,
    settleMs: flags.settle * 1000,
  };
  try {
    return new LabelStudio(access, limits);
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

const PAGE = 500;

/** Pictures with boxes by margin, then those without; and how many these are. */
async function pushedJob(
  client: LatticeClient,
  jobId: string,
  { imageUrl, imageRoot, empty }: PushFlags,
): Promise<PushSource & { images: number }> {
  const { images, request } = await client.summary(jobId);
  const parts: JobImagesQuery[] = [
    { sort: 'margin' },
    ...(empty ? [{ outcome: 'empty' } as const] : []),
  ];
  const addressOf = addressesAt(imageUrl);
  return {
    images: images.found + (empty ? images.empty : 0),
    model: request.model_name,
    addressOf: (path) => addressOf(relativeName(withoutFolder(path, imageRoot))),
    pages: async function* (signal) {
      for (const part of parts) {
        for (let offset: number | null = 0; offset !== null;) {
          const query: JobImagesQuery = { ...part, offset, limit: PAGE };
          const page = await client.images(jobId, query, { signal });
          yield page.images.flatMap((image) => (image.status === 'ok' ? [image] : []));
          offset = page.next_offset;
        }
      }
    },
  };
}

function withoutFolder(path: string, folder: string | undefined): string {
  if (folder === undefined) return path;
  const start = `${folder.replace(/\/+$/, '')}/`;
  return path.startsWith(start) ? path.slice(start.length) : path;
}

function tell(
  jobId: string,
  { sent, already, notSent, beyond, doubled, unlabelled }: PushCounts,
  { json, project, limit }: PushFlags,
  terminal: Terminal,
): void {
  if (json === true) {
    const counts = { sent, already, not_sent: notSent, beyond, doubled, unlabelled };
    terminal.out(JSON.stringify({ job_id: jobId, project, ...counts }));
    return;
  }
  terminal.out(`${jobId}: ${sent} sent, ${already} there already, ${notSent} not sent`);
  if (notSent > 0) terminal.out('The same command sends what is missing.');
  if (beyond > 0) terminal.out(`${beyond} more come after the limit of ${limit}.`);
  if (doubled > 0) terminal.out(`${doubled} pictures are in the project more than once.`);
  if (unlabelled > 0)
    terminal.out(`${unlabelled} boxes have no label in the project and are left out.`);
}
