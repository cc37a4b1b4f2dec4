import { CopyButton } from '../parts/copy-button.js';
import { Modal } from '../parts/modal.js';
import { apiKey } from '../session/session.js';
import { asCurl, asPython } from './code-samples.js';
import { counts, hidden, model, threshold, wantsAllClasses } from './detection.js';
import { ALL_CLASSES } from '../../api/options.js';
import type { Source } from './detect-request.js';

interface CodeDialogProps {
  language: 'curl' | 'Python';
  source: Source;
  onClose: () => void;
}

/** The detection as it is shown, as a program: the threshold and classes are those of the panel. */
export function CodeDialog({ language, source, onClose }: CodeDialogProps) {
  const make = language === 'curl' ? asCurl : asPython;
  const code = make({
    source,
    origin: location.origin,
    needsKey: apiKey.value !== null,
    model: model.value,
    classes: chosenClasses(),
    threshold: threshold.value,
  });
  return (
    <Modal title={`As ${language}`} onClose={onClose}>
      <pre class="code" tabIndex={0}>
        {code}
      </pre>
      <p class="row">
        <CopyButton text={code} what="code" label="Copy" />
      </p>
    </Modal>
  );
}

/** None where the request needs none. */
function chosenClasses(): string[] {
  const shown = counts.value.map(({ name }) => name).filter((name) => !hidden.value.has(name));
  if (hidden.value.size > 0 && shown.length > 0) return shown;
  return wantsAllClasses.value ? [ALL_CLASSES] : [];
}
