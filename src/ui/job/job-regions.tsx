/** The regions of a job: those that it asked for, those of a stored view, or regions that are drawn afterwards. */
import { useSignal } from '@preact/signals';
import type { JobSummary } from '../../client/records.js';
import { address, goTo } from '../address/location.js';
import { Button } from '../parts/button.js';
import { Foreign } from '../parts/foreign.js';
import { Problem } from '../parts/problem.js';
import { drawn, isEditing, showView, view } from '../regions/region-choice.js';
import { regionSums } from '../regions/region-sums.js';
import { ViewSelect } from '../regions/view-select.js';
import { service } from '../session/session.js';
import { grouped } from '../text/format.js';
import { questionTexts } from './question.js';

export function JobRegions({ summary }: { summary: JobSummary }) {
  const fault = useSignal<unknown>(null);
  const { job_id: jobId, region_counts: counts } = summary;
  const sums = [...regionSums(counts)];
  const drawOnPicture = async (): Promise<void> => {
    try {
      const { images } = await service.images(jobId, { outcome: 'found', limit: 1 });
      const index = images[0]?.index ?? 0;
      isEditing.value = true;
      goTo({ screen: 'image', jobId, index }, questionTexts(address.peek().query));
    } catch (error) {
      fault.value = error;
    }
  };
  return (
    <>
      {sums.length > 0 && (
        <ul class="region-counts" aria-label="Boxes by region">
          {sums.map(([name, boxes]) => (
            <li key={name}>
              <Foreign text={name} /> <b>{grouped(boxes)}</b>
            </li>
          ))}
        </ul>
      )}
      <ViewSelect
        label="Regions of a view"
        none="As the job asked"
        value={view.value}
        isDrawn={drawn.value !== null}
        onPick={showView}
      />
      <Button icon="polygon" onClick={() => void drawOnPicture()}>
        {drawn.value === null ? 'Draw regions' : 'Change the regions'}
      </Button>
      {fault.value !== null && <Problem error={fault.value} />}
    </>
  );
}
