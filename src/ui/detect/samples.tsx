/** What the view shows before the first picture: how to bring one, and some that are there. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { firstPictures, type FolderEntry } from '../images/folder.js';
import { Empty } from '../parts/empty.js';
import { Icon } from '../parts/icon.js';
import { Thumbnail } from '../picture/thumbnail.js';
import { service } from '../session/session.js';
import { visible } from '../text/format.js';
import { detect } from './detection.js';

const SHOWN = 3;

export function Samples({ onPick, isBusy }: { onPick: () => void; isBusy: boolean }) {
  const pictures = useSignal<readonly FolderEntry[]>([]);
  useEffect(() => {
    firstPictures(service, SHOWN).then(
      (found) => (pictures.value = found),
      () => undefined,
    );
  }, [pictures]);
  return (
    <div class={isBusy ? 'samples busy' : 'samples'}>
      <Empty icon="detect" title="Find the vehicles in a picture">
        <p>Drop one here, paste it, open a file, or choose one from the image folders.</p>
        <p class="row">
          <button type="button" class="primary" onClick={onPick}>
            <Icon name="folder" /> Browse the folders
          </button>
        </p>
      </Empty>
      {pictures.value.length > 0 && (
        <section class="sample-row" aria-label="Pictures to begin with">
          <h2>Or begin with one of these</h2>
          <ul class="tiles large">
            {pictures.value.map(({ path, name }) => (
              <li key={path}>
                <button
                  type="button"
                  class="tile"
                  onClick={() => void detect({ kind: 'path', path })}
                >
                  <Thumbnail path={path} alt="" />
                  <span class="tile-name">{visible(name)}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
