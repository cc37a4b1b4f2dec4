/** What was found: the picture with its boxes, and the panel that filters them. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { BoxList } from '../picture/box-list.js';
import { ClassChips } from '../picture/class-chips.js';
import { usePictureMarks, type PictureMarks } from '../picture/marks.js';
import { Picture } from '../picture/picture.js';
import { ThresholdSlider } from '../picture/threshold-slider.js';
import { TimeBar } from '../picture/time-bar.js';
import { timeSteps } from '../picture/time-steps.js';
import { useLargePicture } from '../picture/use-picture.js';
import { FolderStrip } from '../images/folder-strip.js';
import { CopyButton } from '../parts/copy-button.js';
import { Foreign } from '../parts/foreign.js';
import { useShortcuts, type Shortcut } from '../parts/shortcuts.js';
import { percent, plural } from '../text/format.js';
import { CodeDialog } from './code-dialog.js';
import { sourceName } from './detect-request.js';
import {
  boxes,
  counts,
  detect,
  detections,
  floor,
  hidden,
  setThreshold,
  threshold,
  toggleClass,
  type Detected,
} from './detection.js';

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
  const name = sourceName(source);
  const alt = `${name} with ${plural(boxes.value.length, 'box', 'boxes')}`;
  return (
    <div class="answer">
      {path !== null && (
        <FolderStrip path={path} onPick={(next) => void detect({ kind: 'path', path: next })} />
      )}
      <div class="answer-picture">
        <Picture
          url={url ?? shared}
          alt={alt}
          size={answer.image}
          boxes={boxes}
          marks={marks}
          isOld={isOld}
        >
          {fault !== null && <p class="stage-note">The picture itself cannot be shown.</p>}
        </Picture>
      </div>
      <Panel detected={detected} marks={marks} />
    </div>
  );
}

function Panel({ detected, marks }: { detected: Detected; marks: PictureMarks }) {
  const { source, answer } = detected;
  const { width, height } = answer.image;
  const confidences = useComputed(() => detections.value.map(({ confidence }) => confidence));
  return (
    <section class="panel" aria-label="Detections">
      <header class="panel-head">
        <h2>
          <Foreign text={sourceName(source)} />
        </h2>
        <p class="fine">
          {width} × {height} px · {answer.model} on {answer.worker_id}
        </p>
        <p class="found" role="status">
          <b>{boxes.value.length}</b> of {detections.value.length} shown
        </p>
      </header>
      {detections.value.length > 0 && (
        <>
          <ClassChips counts={counts} hidden={hidden} onToggle={toggleClass} />
          <ThresholdSlider
            threshold={threshold}
            floor={floor.value}
            confidences={confidences.value}
          />
        </>
      )}
      {answer.truncated && (
        <p class="note">
          The service answers at most {answer.detections.length} boxes: below {percent(floor.value)}{' '}
          there may be more.
        </p>
      )}
      {boxes.value.length === 0 ? <NoneShown /> : <BoxList boxes={boxes} marks={marks} />}
      <TimeBar title="Time" ms={answer.processing_time_ms} steps={timeSteps(answer)} />
      <Actions detected={detected} />
    </section>
  );
}

function NoneShown() {
  const best = detections.value[0];
  if (best === undefined) {
    return <p class="none">Nothing was found in this picture.</p>;
  }
  const isHidden = hidden.value.size > 0;
  return (
    <div class="none">
      <p>
        Nothing above {percent(threshold.value)}
        {isHidden ? ' of these classes' : ''}. The best is {best.class} with{' '}
        {percent(best.confidence)}.
      </p>
      <button
        type="button"
        onClick={() => {
          hidden.value = new Set();
          setThreshold(Math.min(threshold.peek(), Math.floor(best.confidence * 100) / 100));
        }}
      >
        Show it
      </button>
    </div>
  );
}

function Actions({ detected }: { detected: Detected }) {
  const language = useSignal<'curl' | 'Python' | null>(null);
  return (
    <p class="row panel-actions">
      <button type="button" onClick={() => (language.value = 'curl')}>
        As curl
      </button>
      <button type="button" onClick={() => (language.value = 'Python')}>
        As Python
      </button>
      <CopyButton
        text={JSON.stringify(detected.answer, null, 2)}
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
    {
      keys: 'j',
      title: 'Next box',
      run: () => {
        step(1);
      },
    },
    {
      keys: 'k',
      title: 'Box before',
      run: () => {
        step(-1);
      },
    },
    {
      keys: 'z',
      title: 'Zoom to the marked box',
      run: () => {
        marks.zoomTo.value = marks.pinned.peek() ?? 'whole';
      },
    },
    {
      keys: 'f',
      title: 'Show the whole picture',
      run: () => {
        marks.zoomTo.value = 'whole';
      },
    },
    {
      keys: 'Escape',
      title: 'Mark no box, show the whole picture',
      run: () => {
        if (marks.pinned.peek() === null) marks.zoomTo.value = 'whole';
        marks.pinned.value = null;
      },
    },
    {
      keys: '[',
      title: 'Lower threshold',
      run: () => {
        setThreshold(threshold.peek() - STEP);
      },
    },
    {
      keys: ']',
      title: 'Higher threshold',
      run: () => {
        setThreshold(threshold.peek() + STEP);
      },
    },
    {
      keys: 'l',
      title: 'Labels on and off',
      run: () => {
        marks.labels.value = marks.labels.peek() === 'fit' ? 'one' : 'fit';
      },
    },
    {
      keys: 'h',
      title: 'Hide the boxes while held',
      run: () => {
        marks.boxesShown.value = false;
      },
      release: () => {
        marks.boxesShown.value = true;
      },
    },
    ...classes.slice(0, Math.max(1, counts.value.length)),
  ];
}
