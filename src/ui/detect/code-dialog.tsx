import { CopyButton } from '../parts/copy-button.js';
import { Modal } from '../parts/modal.js';
import { apiKey } from '../session/session.js';
import { asCurl, asPython } from './code-samples.js';
import { plural } from '../text/format.js';
import { askedClasses, detections, hidden, model, threshold, tiles } from './detection.js';
import { shownRequest, standIns, type Source } from './detect-request.js';

interface CodeDialogProps {
  language: 'curl' | 'Python';
  source: Source;
  onClose: () => void;
}

/** The detection as it is shown, as a program: the threshold and classes are those of the panel. */
export function CodeDialog({ language, source, onClose }: CodeDialogProps) {
  const make = language === 'curl' ? asCurl : asPython;
  const choice = {
    model: model.value,
    asked: askedClasses.value,
    detections: detections.value,
    hidden: hidden.value,
    threshold: threshold.value,
    tiles: tiles.value,
  };
  const code = make({
    source,
    origin: location.origin,
    needsKey: apiKey.value !== null,
    ...shownRequest(choice),
  });
  const others = standIns(choice);
  return (
    <Modal title={`As ${language}`} onClose={onClose}>
      <pre class="code" tabIndex={0}>
        {code}
      </pre>
      {others.length > 0 && (
        <p class="note">
          Boxes of other classes were merged into {plural(others.length, 'box', 'boxes')} of the
          switched-off classes. Without these classes the service may answer the others instead.
        </p>
      )}
      <p class="row">
        <CopyButton text={code} what="code" label="Copy" />
      </p>
    </Modal>
  );
}
