/** What was found: the picture with its boxes, and the panel that filters them. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { FolderStrip } from '../images/folder-strip.js';
import { Button } from '../parts/button.js';
import { CopyButton } from '../parts/copy-button.js';
import { Foreign } from '../parts/foreign.js';
import { useShortcuts, type Shortcut } from '../parts/shortcuts.js';
import { DetectedPicture } from '../picture/detected-picture.js';
import { usePictureMarks, type PictureMarks } from '../picture/marks.js';
import { useLargePicture } from '../picture/use-picture.js';
import { percent } from '../text/format.js';
import { CodeDialog } from './code-dialog.js';
import { sourceName } from './detect-request.js';
import {
  boxes,
  counts,
  detect,
  detections,
  filter,
  floor,
  hidden,
  setThreshold,
  threshold,
  toggleClass,
  type Detected,
} from './detection.js';
import { shownAnswer } from './shown-answer.js';

const STEP = 0.05;

export function AnswerView({ detected, isOld }: { detected: Detected; isOld: boolean }) {
  const { source, answer, url } = detected;
  const marks = usePictureMarks();
  const path = source.kind === 'path' ? source.path : null;
  const { url: shared, fault } = useLargePicture(path);
  useEffect(() => {
    marks.pinned.value = null;
    marks.active.value = null;
  }, [answer]);
  useShortcuts('Picture', shortcutsOf(marks));
  return (
    <div class="answer">
      {path !== null && (
        <FolderStrip path={path} onPick={(next) => void detect({ kind: 'path', path: next })} />
      )}
      <DetectedPicture
        image={answer}
        url={url ?? shared}
        fault={fault}
        name={sourceName(source)}
        filter={filter}
        floor={floor.value}
        marks={marks}
        isOld={isOld}
        head={<Head detected={detected} />}
        note={
          answer.truncated && (
            <p class="note">
              The service answers at most {answer.detections.length} boxes: below{' '}
              {percent(floor.value)} there may be more.
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
          hidden.value = new Set();
          setThreshold(Math.min(threshold.peek(), Math.floor(best.confidence * 100) / 100));
        }}
      >
        Show it
      </Button>
    </div>
  );
}

function Actions({ detected }: { detected: Detected }) {
  const language = useSignal<'curl' | 'Python' | null>(null);
  return (
    <p class="row panel-actions">
      <Button onClick={() => (language.value = 'curl')}>As curl</Button>
      <Button onClick={() => (language.value = 'Python')}>As Python</Button>
      <CopyButton
        text={JSON.stringify(shownAnswer(detected.answer, boxes.value, threshold.value), null, 2)}
        what="answer as JSON"
        label="JSON"
      />
      {language.value !== null && (
        <CodeDialog
          language={language.value}
          source={detected.source}
          onClose={() => (language.value = null)}
        />
      )}
    </p>
  );
}

function shortcutsOf(marks: PictureMarks): Shortcut[] {
  const step = (by: number): void => {
    const all = boxes.peek();
    const at = all.findIndex(({ id }) => id === marks.pinned.peek());
    const next = all[Math.max(0, Math.min(at + by, all.length - 1))];
    if (next !== undefined) marks.pinned.value = next.id;
  };
  const classes = Array.from({ length: 9 }, (_, index): Shortcut => {
    const run = (): void => {
      const name = counts.peek()[index]?.name;
      if (name !== undefined) toggleClass(name);
    };
    return { keys: String(index + 1), title: `Show or hide class ${index + 1}`, run };
  });
  return [
    { keys: 'j', title: 'Next box', run: () => step(1) },
    { keys: 'k', title: 'Box before', run: () => step(-1) },
    {
      keys: 'z',
      title: 'Zoom to the marked box',
      run: () => (marks.zoomTo.value = marks.pinned.peek() ?? 'whole'),
    },
    { keys: 'f', title: 'Show the whole picture', run: () => (marks.zoomTo.value = 'whole') },
    {
      keys: 'Escape',
      title: 'Mark no box, show the whole picture',
      run: () => {
        if (marks.pinned.peek() === null) marks.zoomTo.value = 'whole';
        marks.pinned.value = null;
      },
    },
    { keys: '[', title: 'Lower threshold', run: () => setThreshold(threshold.peek() - STEP) },
    { keys: ']', title: 'Higher threshold', run: () => setThreshold(threshold.peek() + STEP) },
    {
      keys: 'l',
      title: 'Labels on and off',
      run: () => (marks.labels.value = marks.labels.peek() === 'fit' ? 'one' : 'fit'),
    },
    {
      keys: 'h',
      title: 'Hide the boxes while held',
      run: () => (marks.boxesShown.value = false),
      release: () => (marks.boxesShown.value = true),
    },
    ...classes.slice(0, Math.max(1, counts.value.length)),
  ];
}
