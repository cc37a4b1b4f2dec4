import { useSignal } from '@preact/signals';
import { Button } from '../parts/button.js';
import { CopyButton } from '../parts/copy-button.js';
import { Modal } from '../parts/modal.js';
import { asked as askedRegions, used, view } from '../regions/region-choice.js';
import { apiKey } from '../session/session.js';
import { SAMPLES, type Language } from './code-samples.js';
import { plural } from '../text/format.js';
import { askedClasses, detections, hidden, model, threshold, tiles, written } from './detection.js';
import { shownRequest, standIns, type Source } from './detect-request.js';

const LANGUAGES = Object.keys(SAMPLES) as Language[];

interface CodeDialogProps {
  source: Source;
  onClose: () => void;
}

/** The detection as it is shown, as a program: the threshold and classes are those of the panel. */
export function CodeDialog({ source, onClose }: CodeDialogProps) {
  const language = useSignal<Language>('curl');
  const choice = {
    ...written.value,
    model: model.value,
    asked: askedClasses.value,
    detections: detections.value,
    hidden: hidden.value,
    threshold: threshold.value,
    tiles: tiles.value,
    regions: askedRegions.value,
    view: view.value,
  };
  const code = SAMPLES[language.value]({
    source,
    origin: location.origin,
    needsKey: apiKey.value !== null,
    viewRegions: used.value?.regions ?? [],
    ...shownRequest(choice),
  });
  const others = standIns(choice);
  return (
    <Modal title="As code" onClose={onClose}>
      <p class="row" role="group" aria-label="Language">
        {LANGUAGES.map((name) => (
          <Button
            key={name}
            class="chip"
            aria-pressed={language.value === name}
            onClick={() => (language.value = name)}
          >
            {name}
          </Button>
        ))}
      </p>
      <pre class="code" tabIndex={0}>
        {code}
      </pre>
      {others.length > 0 && (
        <p class="note">
          Boxes of other classes were merged into {plural(others.length, 'box', 'boxes')} that{' '}
          {others.length === 1 ? 'is' : 'are'} not shown. The service may answer those others
          instead.
        </p>
      )}
      <p class="row">
        <CopyButton text={code} what="code" label="Copy" />
      </p>
    </Modal>
  );
}
