/** Photos of this machine as a job: what is going to be sent, how far it is, then the page of the job. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { countKinds, leftOutFiles } from '../../api/left-out.js';
import type { JobSubmit, NewUpload } from '../../client/records.js';
import { planOf, wanted, type PhotoFile, type SendProgress } from '../../client/upload-calls.js';
import { goTo } from '../address/location.js';
import { JOB_TYPE_TEXTS } from '../jobs/job-request.js';
import { Button } from '../parts/button.js';
import { Modal } from '../parts/modal.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { service } from '../session/session.js';
import { bytes, plural, visible } from '../text/format.js';

type JobType = JobSubmit['job_type'];

const MOST_NAMES = 100;

interface PhotoJobProps {
  photos: readonly PhotoFile[];
  /** Empty: the default one. */
  model: string;
  onClose: () => void;
}

export function PhotoJob({ photos, model, onClose }: PhotoJobProps) {
  const upload = useSignal<NewUpload | null>(null);
  const progress = useSignal<SendProgress | null>(null);
  const fault = useSignal<unknown>(null);
  const isSending = useSignal(false);
  const type = useSignal<JobType>('detect_vehicles');
  /** The job has the upload: it stays when the dialog goes. */
  const isTaken = useRef(false);
  /** Files that need not be sent again. */
  const done = useRef(new Set<string>());
  useEffect(() => {
    const stop = new AbortController();
    service.uploads.create(planOf(photos), { signal: stop.signal }).then(
      (made) => (upload.value = made),
      (error: unknown) => {
        if (!stop.signal.aborted) fault.value = error;
      },
    );
    return () => {
      stop.abort();
      const id = upload.peek()?.upload_id;
      if (id !== undefined && !isTaken.current) void service.uploads.remove(id).catch(() => null);
    };
  }, [photos, upload, fault]);
  const sending = useRef(new AbortController());
  useEffect(() => () => sending.current.abort(), []);
  const send = async (made: NewUpload): Promise<void> => {
    isSending.value = true;
    fault.value = null;
    const { signal } = sending.current;
    const left = wanted(photos, made).filter(({ name }) => !done.current.has(name));
    try {
      await service.uploads.send(made.upload_id, left, {
        signal,
        onProgress: (now) => {
          done.current.add(now.name);
          progress.value = now;
        },
      });
      const { job_id } = await service.submit(
        {
          job_type: type.peek(),
          image_paths: ['.'],
          upload: made.upload_id,
          ...(model === '' ? {} : { model_name: model }),
        },
        { signal },
      );
      isTaken.current = true;
      goTo({ screen: 'job', jobId: job_id });
    } catch (error) {
      if (!signal.aborted) fault.value = error;
    }
    isSending.value = false;
  };
  const made = upload.value;
  return (
    <Modal title="Photos as a job" onClose={onClose}>
      <form
        class="submit-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (made !== null) void send(made);
        }}
      >
        {made === null ? (
          fault.value === null && <Skeleton label="Looking at the files" lines={3} />
        ) : (
          <Planned photos={photos} upload={made} />
        )}
        <label class="field">
          <span>Look for</span>
          <select
            value={type.value}
            disabled={isSending.value}
            onChange={({ currentTarget }) => (type.value = currentTarget.value as JobType)}
          >
            {JOB_TYPE_TEXTS.map((each) => (
              <option key={each.type} value={each.type}>
                {each.text}
              </option>
            ))}
          </select>
        </label>
        {progress.value !== null && <Sent progress={progress.value} />}
        {fault.value !== null && <Problem error={fault.value} />}
        <p class="row submit-foot">
          <Button onClick={onClose}>Cancel</Button>
          <button
            class="primary"
            autofocus
            disabled={made === null || isSending.value || wanted(photos, made).length === 0}
          >
            {isSending.value
              ? 'Sending'
              : fault.value === null
                ? 'Send and detect'
                : 'Go on with the rest'}
          </button>
        </p>
      </form>
    </Modal>
  );
}

function Planned({ photos, upload }: { photos: readonly PhotoFile[]; upload: NewUpload }) {
  const sent = wanted(photos, upload);
  const size = bytes(sent.reduce((sum, each) => sum + each.bytes, 0));
  const kinds = countKinds(upload.left_out.map(({ kind }) => kind));
  return (
    <>
      <p role="status">
        {sent.length === 0 ? (
          'None of the files is a picture that is read.'
        ) : (
          <>
            <b>{plural(sent.length, 'picture')}</b>, {size.text} {size.unit}
          </>
        )}
      </p>
      {upload.left_out.length > 0 && (
        <details>
          <summary>{leftOutFiles(kinds)}</summary>
          <ul class="left-out">
            {upload.left_out.slice(0, MOST_NAMES).map(({ name, detail }) => (
              <li key={name}>
                {visible(name)}: {detail}
              </li>
            ))}
            {upload.left_out.length > MOST_NAMES && (
              <li>and {plural(upload.left_out.length - MOST_NAMES, 'other')}</li>
            )}
          </ul>
        </details>
      )}
      <p class="fine">
        The service keeps the photos as long as the job; without a job they go after an hour.
      </p>
    </>
  );
}

function Sent({ progress }: { progress: SendProgress }) {
  const { files, ofFiles, leftOut } = progress;
  const [now, all] = [bytes(progress.bytes), bytes(progress.ofBytes)];
  const text = `${files} of ${plural(ofFiles, 'file')}, ${now.text} ${now.unit} of ${all.text} ${all.unit}`;
  return (
    <div class="job-progress">
      <progress
        max="1"
        value={progress.ofBytes === 0 ? 1 : progress.bytes / progress.ofBytes}
        aria-label="Sent"
      />
      <p class="fine">{text}</p>
      {leftOut.length > 0 && (
        <ul class="left-out" aria-label="Refused">
          {leftOut.slice(-MOST_NAMES).map(({ name, detail }) => (
            <li key={name} class="bad">
              {visible(detail)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
