/** The answer: the picture with its boxes, and the panel that filters them. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { setQuery } from '../address/location.js';
import type { DetectResponse } from '../../client/records.js';
import { FolderStrip } from '../images/folder-strip.js';
import { Button } from '../parts/button.js';
import { CopyButton } from '../parts/copy-button.js';
import { Foreign } from '../parts/foreign.js';
import { lazy } from '../parts/lazy.js';
import { saveFile } from '../parts/save-file.js';
import { DetectedPicture } from '../picture/detected-picture.js';
import { usePictureMarks } from '../picture/marks.js';
import { floorOf } from '../picture/shown-boxes.js';
import { useLargePicture } from '../picture/use-picture.js';
import { WHOLE } from '../picture/view-window.js';
import { useRegionLayer } from '../regions/region-layer.js';
import { RegionCounts } from '../regions/region-shapes.js';
import { fileName, percent } from '../text/format.js';
import { ComparisonChoice, useComparison } from './comparison.js';
import { sourceName } from './detect-request.js';
import {
  boxes,
  chosenModel,
  detect,
  detections,
  filter,
  hidden,
  regionCounts,
  setThreshold,
  threshold,
  type Detected,
} from './detection.js';
import { MoreOptions } from './more-options.js';
import { shownAnswer } from './shown-answer.js';

/** Most visits ask for no code. */
const CodeDialog = lazy('Writing the code', async () => {
  const { CodeDialog: loaded } = await import('./code-dialog.js');
  return loaded;
});

export function AnswerView({ detected, isOld }: { detected: Detected; isOld: boolean }) {
  const { source, answer, url } = detected;
  const marks = usePictureMarks();
  const path = source.kind === 'path' ? source.path : null;
  const { url: shared, fault } = useLargePicture(path);
  const compared = useComparison(detected);
  useEffect(() => {
    marks.pinned.value = null;
    marks.active.value = null;
  }, [answer]);
  useEffect(() => {
    marks.viewWindow.value = WHOLE;
  }, [source]);
  return (
    <div class="answer">
      {path !== null && (
        <FolderStrip path={path} onPick={(next) => detect({ kind: 'path', path: next })} />
      )}
      <DetectedPicture
        image={answer}
        url={url ?? shared}
        fault={fault}
        name={sourceName(source)}
        filter={filter}
        marks={marks}
        isOld={isOld}
        head={<Head detected={detected} />}
        compared={compared}
        aside={
          <>
            <RegionCounts counts={regionCounts.value} />
            <ComparisonChoice detected={detected} compared={compared} />
            <MoreOptions />
          </>
        }
        {...useRegionLayer(marks, regionCounts.value, chosenModel.value?.classes ?? [])}
        note={
          answer.truncated && (
            <p class="note">
              The service answers at most {answer.detections.length} boxes: below{' '}
              {percent(filter.floor.value)} there may be more.
            </p>
          )
        }
        none={<NoneShown />}
      >
        <Actions detected={detected} />
      </DetectedPicture>
    </div>
  );
}

function Head({ detected: { source, answer } }: { detected: Detected }) {
  const { width, height } = answer.image;
  return (
    <>
      <h2>
        <Foreign text={sourceName(source)} />
      </h2>
      <p class="fine">
        {width} × {height} px · {answer.model}
        {answer.precision !== undefined && ` in ${answer.precision}`} on {answer.worker_id}
      </p>
    </>
  );
}

function NoneShown() {
  const best = detections.value[0];
  if (best === undefined) return null;
  const isHidden = hidden.value.size > 0;
  return (
    <div class="none">
      <p>
        Nothing above {percent(threshold.value)}
        {isHidden ? ' of these classes' : ''}. The best is {best.class} with{' '}
        {percent(best.confidence)}.
      </p>
      <Button
        onClick={() => {
          setQuery({ hide: '' });
          setThreshold(Math.min(threshold.peek(), floorOf([best])));
        }}
      >
        Show it
      </Button>
    </div>
  );
}

function Actions({ detected: { source, answer } }: { detected: Detected }) {
  const isCodeOpen = useSignal(false);
  const shown = shownAnswer(answer, boxes.value, threshold.value);
  return (
    <>
      <Button onClick={() => (isCodeOpen.value = true)}>As code</Button>
      <CopyButton text={JSON.stringify(shown, null, 2)} what="answer as JSON" label="JSON" />
      <Button
        class="quiet"
        icon="download"
        name="Save the boxes as CSV"
        onClick={() => void saveCsv(sourceName(source), shown)}
      >
        CSV
      </Button>
      {isCodeOpen.value && (
        <CodeDialog source={source} onClose={() => (isCodeOpen.value = false)} />
      )}
    </>
  );
}

/** The file that the command line and jobs write. */
async function saveCsv(name: string, answer: DetectResponse): Promise<void> {
  const { writeCsv } = await import('../../export/csv.js');
  const { detections, image, model } = answer;
  const entry = { image_path: name, status: 'ok' as const, detections, image };
  const pieces: string[] = [];
  const csv = writeCsv({
    jobId: null,
    model,
    classes: chosenModel.peek()?.classes ?? [],
    fileName: (path) => path,
    pages: async function* () {
      yield await Promise.resolve([entry]);
    },
  });
  for await (const piece of csv) pieces.push(piece);
  const stem = fileName(name).replace(/\.[^.]*$/, '');
  saveFile(new Blob(pieces, { type: 'text/csv' }), `${stem}.csv`);
}
