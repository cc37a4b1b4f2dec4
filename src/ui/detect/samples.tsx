/** The view before the first picture: how to open one, and samples to begin with. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { firstPictures, type FolderEntry } from '../images/folder.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { Thumbnail } from '../picture/thumbnail.js';
import { service } from '../session/session.js';
import { visible } from '../text/format.js';
import { detect, fault } from './detection.js';

const SHOWN = 3;

/** A picture that is part of the page, for a service without any. */
const EXAMPLE = new URL('../../../models/demo/street.jpg', import.meta.url);

function detectExample(): void {
  fetch(EXAMPLE)
    .then((answer) => answer.blob())
    .then(
      (bytes) =>
        detect({ kind: 'file', file: new File([bytes], 'street.jpg', { type: bytes.type }) }),
      (error: unknown) => (fault.value = error),
    );
}

interface SamplesProps {
  /** Opens the image folders. */
  onPick: () => void;
  /** Opens pictures of this machine. */
  onOpen: () => void;
}

export function Samples({ onPick, onOpen }: SamplesProps) {
  /** Null while they are not known. */
  const pictures = useSignal<readonly FolderEntry[] | null>(null);
  useEffect(() => {
    firstPictures(service, SHOWN).then(
      (found) => (pictures.value = found),
      () => undefined,
    );
  }, [pictures]);
  return (
    <div class="samples">
      <Empty icon="detect" title="Find the vehicles in a picture">
        {pictures.value?.length === 0 ? (
          <>
            <p>
              Drop one here, paste it, or open one of your own. Several, or a folder, become a job.
            </p>
            <p class="row">
              <Button icon="upload" class="primary" onClick={onOpen}>
                Open pictures of this machine
              </Button>
              <Button icon="picture" onClick={detectExample}>
                Use the example
              </Button>
            </p>
            <p>
              The image folders of the service have no pictures. To name other folders, start it
              with <code>lattice serve --image-roots FOLDER</code>.
            </p>
          </>
        ) : (
          <>
            <p>
              Drop one here, paste it, or choose one from the image folders. Several, or a folder,
              become a job.
            </p>
            <p class="row">
              <Button icon="folder" class="primary" onClick={onPick}>
                Browse the folders
              </Button>
              <Button icon="upload" onClick={onOpen}>
                Open pictures of this machine
              </Button>
            </p>
          </>
        )}
      </Empty>
      {pictures.value !== null && pictures.value.length > 0 && (
        <section class="sample-row" aria-label="Pictures to begin with">
          <h2>Or begin with one of these</h2>
          <ul class="tiles large">
            {pictures.value.map(({ path, name }) => (
              <li key={path}>
                <Button class="tile" onClick={() => detect({ kind: 'path', path })}>
                  <Thumbnail path={path} alt="" />
                  <span class="tile-name">{visible(name)}</span>
                </Button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
