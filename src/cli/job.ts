/** `lattice job`: jobs of a running service, over its HTTP API. */
import { Option, type Command } from 'commander';
import { GROUPINGS, JOB_SORTS } from '../api/job-values.js';
import { addLabelFlags, numberThat, serviceCommand, wholeNumber } from './command-options.js';
import {
  addExportFlags,
  checkExportFlags,
  refuseUnusedOutput,
  refuseOnScreen,
  type ExportFlags,
} from './export-output.js';
import type { CountsFlags } from './job/counting.js';
import { addFilterFlags } from './job/filter-flags.js';
import { addCountFlags } from './job/count-flags.js';
import { addQuestionFlags, addStandingFlags, type AskedFlags } from './job/question-flags.js';
import { addJobFlags } from './job/job-flags.js';
import type { AccessFlags } from './job/open-client.js';
import { addPushFlags, type PushFlags } from './job/push-flags.js';
import type { JobPictureFlags, ListFlags, ReportFlags } from './job/showing.js';
import type { EditFlags } from './job/changing.js';
import type { FollowFlags } from './job/following.js';
import type { SubmitFlags } from './job/submitting.js';
import { OUTPUT_FLAG } from './output-file.js';
import { addCoverFlags, addMarginFlag, checkPictureFlags } from './picture-flags.js';
import type { RegisterCommand, Terminal } from './terminal.js';

const EXAMPLES = `
The service is that of --url, else of LATTICE_CORE_API_URL, else http://127.0.0.1:8000. Where it has API keys, the key
comes from --api-key-file or from LATTICE_API_KEY.
Exit code of submit --wait, watch, status and result: 0 the job is completed (for status, also when it has not ended);
3 it is completed, but some of its images failed: the reasons are printed; 1 it failed. Of push: 0 all pictures are in the
project, 3 some could not be sent. For every command: 1 the service refuses or is not there; 2 the command line is wrong;
130 Ctrl-C, and the job goes on.

Examples:
  $ lattice job submit street.jpg --type detect_cars --wait
  $ lattice job submit depot.jpg --model own --classes car_ahead,stop_sign
  $ JOB=$(lattice job submit '2026/**/*.jpg' --priority 5)
  $ lattice job watch $JOB
  $ lattice job result $JOB --json > boxes.json
  $ lattice job result $JOB --format coco -o boxes.coco.json
  $ lattice job report $JOB -o report.html
  $ lattice job pictures $JOB --cover car -o to-share.zip
  $ lattice job counts $JOB --by hour --format csv -o counts.csv
  $ lattice job counts $JOB --confidence 0.3 --classes car,bus --view gate-2
  $ lattice job push $JOB --to http://127.0.0.1:8080 --project 3
  $ lattice job list --status pending,running
  $ lattice job list --search 'north gate' --tag night
  $ lattice job edit $JOB --name 'North gate, Monday' --keep 90
  $ lattice job retry $JOB
  $ lattice job cancel $JOB
  $ lattice job remove $JOB`;

export const registerJob: RegisterCommand = (program, terminal) => {
  const job = program
    .command('job')
    .description(
      'submit, list, watch, edit, push, retry, cancel and remove jobs of a running service',
    )
    .addHelpText('after', EXAMPLES);
  registerSubmit(job, terminal);
  registerList(job, terminal);
  registerStatus(job, terminal);
  registerResult(job, terminal);
  registerReport(job, terminal);
  registerPictures(job, terminal);
  registerCounts(job, terminal);
  registerPush(job, terminal);
  registerFollow(job, terminal);
  registerRetry(job, terminal);
  registerCancel(job, terminal);
  registerEdit(job, terminal);
  registerRemove(job, terminal);
};

function registerSubmit(parent: Command, terminal: Terminal): void {
  const submit = serviceCommand(parent, {
    name: 'submit',
    description: 'queue images as one job; prints its id',
    json: 'print its records',
    calls: [
      'street.jpg --type detect_cars --wait',
      "'2026/**/*.jpg' --model depot --classes car_ahead,stop_sign --priority 5",
      '--upload ~/Pictures/holiday --wait',
    ],
  })
    .argument(
      '[path...]',
      'images, folders or globs as the service sees them, beneath its image folders; quote a glob so that the service and not your shell expands it',
    )
    .option(
      '--upload <path...>',
      'photos of this machine to send and run as the job: folders and files; they stay at the service as long as the job',
    );
  submit.option('--literal', 'each path is the name of a file, also one that looks like a glob');
  addLabelFlags(addJobFlags(submit))
    .option('-w, --wait', 'show the progress until the job has ended')
    .option('--timeout <seconds>', 'stop waiting after this time; the job goes on', seconds)
    .action(async (paths: string[], flags: SubmitFlags) => {
      const { submitJob } = await import('./job/submitting.js');
      await submitJob(paths, flags, terminal);
    });
}

function registerList(parent: Command, terminal: Terminal): void {
  const list = serviceCommand(parent, {
    name: 'list',
    description: 'jobs, newest first',
    json: 'print one JSON array',
    calls: ['--status pending,running --limit 50', "--search 'north gate' --tag night --sort name"],
  });
  addFilterFlags(list)
    .addOption(
      new Option(
        '--sort <order>',
        'submitted: newest first; ended: last to end first; name: by title; with a minus the reverse',
      ).choices(JOB_SORTS),
    )
    .option('-n, --limit <number>', 'most jobs to show', wholeNumber(1, 1_000_000), 20)
    .action(async (flags: ListFlags) => {
      const { listJobs } = await import('./job/showing.js');
      await listJobs(flags, terminal);
    });
}

function registerStatus(parent: Command, terminal: Terminal): void {
  serviceCommand(parent, {
    name: 'status',
    description: 'how far a job is',
    json: 'print its status record',
    calls: ['job_AaH_VN9D'],
  })
    .argument('<job>', 'its id')
    .action(async (jobId: string, flags: AccessFlags) => {
      const { showStatus } = await import('./job/showing.js');
      await showStatus(jobId, flags, terminal);
    });
}

function registerResult(parent: Command, terminal: Terminal): void {
  const result = serviceCommand(parent, {
    name: 'result',
    description: 'boxes of a job that has ended',
    json: 'print its result record',
    calls: ['job_AaH_VN9D --json > boxes.json', 'job_AaH_VN9D --format coco -o boxes.coco.json'],
  })
    .argument('<job>', 'its id')
    .action(async (jobId: string, flags: AccessFlags & ExportFlags & AskedFlags) => {
      checkExportFlags(flags, terminal);
      const { exportResult, showResult } = await import('./job/showing.js');
      if (flags.format === undefined) await showResult(jobId, flags, terminal);
      else await exportResult(jobId, flags.format, flags, terminal);
    });
  addQuestionFlags(addStandingFlags(addExportFlags(result)));
}

function registerReport(parent: Command, terminal: Terminal): void {
  const report = serviceCommand(parent, {
    name: 'report',
    description: 'a job that has ended as one HTML file for people, with some of its pictures',
    calls: ['job_AaH_VN9D -o report.html'],
  })
    .argument('<job>', 'its id')
    .option(OUTPUT_FLAG, 'file of the report; default, and -: standard output')
    .action(async (jobId: string, flags: ReportFlags) => {
      const { writeReport } = await import('./job/showing.js');
      await writeReport(jobId, flags, terminal);
    });
  addQuestionFlags(report);
}

function registerPictures(parent: Command, terminal: Terminal): void {
  const pictures = serviceCommand(parent, {
    name: 'pictures',
    description:
      'a zip of the pictures of an ended job with their boxes drawn; covered, with --cover; or of a picture of each box, with --crops',
    calls: [
      'job_AaH_VN9D -o drawn.zip',
      'job_AaH_VN9D --cover car,bus --cover-with fill -o to-share.zip',
      'job_AaH_VN9D --crops -o crops.zip',
    ],
  })
    .argument('<job>', 'its id')
    .addOption(new Option('--crops', 'a picture of each box, by class').conflicts('cover'))
    .option(OUTPUT_FLAG, 'file of the archive; default, and -: standard output')
    .action(async (jobId: string, flags: JobPictureFlags) => {
      checkPictureFlags(flags);
      refuseOnScreen(flags, 'This is a zip archive', terminal);
      const { writePictures } = await import('./job/showing.js');
      await writePictures(jobId, flags, terminal);
    });
  addMarginFlag(addCoverFlags(pictures, 'cover boxes of these classes'));
  addQuestionFlags(pictures);
}

function registerCounts(parent: Command, terminal: Terminal): void {
  const counts = serviceCommand(parent, {
    name: 'counts',
    description:
      'images and boxes of a job by image, event, folder, hour, day or folder and hour, of the images that have ended so far',
    json: 'print them as JSON',
    calls: ['job_AaH_VN9D --by hour', 'job_AaH_VN9D --by day --format csv -o counts.csv'],
  })
    .argument('<job>', 'its id')
    .action(async (jobId: string, flags: CountsFlags) => {
      refuseUnusedOutput(flags);
      const { showCounts } = await import('./job/counting.js');
      await showCounts(jobId, flags, terminal);
    });
  addCountFlags(counts, GROUPINGS);
}

function registerPush(parent: Command, terminal: Terminal): void {
  const push = serviceCommand(parent, {
    name: 'push',
    description:
      'send the pictures of an ended job with their boxes to a project of Label Studio, doubtful ones first and none twice; its key comes from LABEL_STUDIO_API_KEY',
    json: 'print the counts',
    calls: ['job_AaH_VN9D --to http://127.0.0.1:8080 --project 3'],
  })
    .argument('<job>', 'its id')
    .action(async (jobId: string, flags: PushFlags) => {
      const { pushJob } = await import('./job/pushing.js');
      await pushJob(jobId, flags, terminal);
    });
  addPushFlags(push);
}

/** `lattice job watch` follows a job; `lattice watch` is about watched folders. */
function registerFollow(parent: Command, terminal: Terminal): void {
  serviceCommand(parent, {
    name: 'watch',
    description: 'follow a job to its end, or the events of all jobs',
    json: 'print one JSON object per line',
    calls: ['job_AaH_VN9D --timeout 600', '--json > events.ndjson'],
  })
    .argument('[job]', 'its id; without one, all jobs until Ctrl-C')
    .option('--timeout <seconds>', 'stop waiting after this time; the job goes on', seconds)
    .action(async (jobId: string | undefined, flags: FollowFlags) => {
      const { followAll, followJob } = await import('./job/following.js');
      if (jobId === undefined) await followAll(flags, terminal);
      else await followJob(jobId, flags, terminal);
    });
}

function registerRetry(parent: Command, terminal: Terminal): void {
  serviceCommand(parent, {
    name: 'retry',
    description:
      'run again, as a new job, the images of an ended job that failed or were not run; prints its id',
    json: 'print its record',
    calls: ['job_AaH_VN9D'],
  })
    .argument('<job>', 'id of the job whose failed images are run again')
    .action(async (jobId: string, flags: AccessFlags) => {
      const { retryJob } = await import('./job/changing.js');
      await retryJob(jobId, flags, terminal);
    });
}

function registerCancel(parent: Command, terminal: Terminal): void {
  serviceCommand(parent, {
    name: 'cancel',
    description: 'end a job; it counts as failed',
    json: 'print its status record',
    calls: ['job_AaH_VN9D'],
  })
    .argument('<job>', 'its id')
    .action(async (jobId: string, flags: AccessFlags) => {
      const { cancelJob } = await import('./job/changing.js');
      await cancelJob(jobId, flags, terminal);
    });
}

function registerEdit(parent: Command, terminal: Terminal): void {
  const edit = serviceCommand(parent, {
    name: 'edit',
    description: 'name, tag or annotate a job, or keep it longer; an empty text clears',
    json: 'print its status record',
    calls: [
      "job_AaH_VN9D --name 'North gate, Monday' --tag gate --tag night",
      'job_AaH_VN9D --keep 90',
    ],
  }).argument('<job>', 'its id');
  addLabelFlags(edit).action(async (jobId: string, flags: EditFlags) => {
    const { editJob } = await import('./job/changing.js');
    await editJob(jobId, flags, terminal);
  });
}

function registerRemove(parent: Command, terminal: Terminal): void {
  serviceCommand(parent, {
    name: 'remove',
    description: 'remove ended jobs with their results and drawn copies, for good; also kept ones',
    json: 'print their last status records, one per line',
    calls: ['job_AaH_VN9D job_AaH_VN9E'],
  })
    .argument('<job...>', 'ids')
    .action(async (jobIds: string[], flags: AccessFlags) => {
      const { removeJobs } = await import('./job/changing.js');
      await removeJobs(jobIds, flags, terminal);
    });
}

const seconds = numberThat('a number of seconds above 0', (value) => value > 0);
