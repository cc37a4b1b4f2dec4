/** The view before the first picture: how to open one, and samples to begin with. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { firstPictures, type FolderEntry } from '../images/folder.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { Thumbnail } from '../picture/thumbnail.js';
import { service } from '../session/session.js';
import { visible } from '../text/format.js';
import { detect } from './detection.js';

const SHOWN = 3;

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
              The image folders of the service have no pictures yet. Drop one here, paste it, or
              open one of your own. Several, or a folder, become a job.
            </p>
            <p class="row">
              <Button icon="upload" class="primary" onClick={onOpen}>
                Open pictures of this machine
              </Button>
              <Button icon="folder" onClick={onPick}>
                Browse the folders
              </Button>
            </p>
          </>
        ) : (
          <>
            <p>
              Drop one here, paste it, open a file, or choose one from the image folders. Several,
              or a folder, become a job.
            </p>
            <p class="row">
              <Button icon="folder" class="primary" onClick={onPick}>
                Browse the folders
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
