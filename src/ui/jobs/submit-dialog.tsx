import { Modal } from '../parts/modal.js';
import { service } from '../session/session.js';
import { JobForm } from './job-form.js';
import { jobRequest } from './job-request.js';

interface SubmitDialogProps {
  onClose: () => void;
  onAccepted: (jobId: string) => void;
}

export function SubmitDialog({ onClose, onAccepted }: SubmitDialogProps) {
  return (
    <Modal title="New job" onClose={onClose}>
      <JobForm
        label="Images, folders or globs, one per line"
        submit="Submit the job"
        onSubmit={async (fields) => {
          const { job_id } = await service.submit(jobRequest(fields));
          onAccepted(job_id);
        }}
      />
    </Modal>
  );
}
