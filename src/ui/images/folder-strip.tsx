import { useEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { Button } from '../parts/button.js';
import { Thumbnail } from '../picture/thumbnail.js';
import { service } from '../session/session.js';
import { fileName, visible } from '../text/format.js';
import { folderOf, type FolderEntry } from './folder.js';

const SHOWN = 24;

/** Other pictures of the folder, beside the one that is shown. */
export function FolderStrip({ path, onPick }: { path: string; onPick: (path: string) => void }) {
  const entries = useSignal<readonly FolderEntry[] | null>(null);
  const folder = folderOf(path);
  useEffect(() => {
    const stop = new AbortController();
    service.folder({ under: folder, limit: 100 }, { signal: stop.signal }).then(
      ({ entries: found }) => {
        entries.value = found.filter(({ type }) => type === 'image').slice(0, SHOWN);
      },
      () => {
        entries.value = [];
      },
    );
    return () => stop.abort();
  }, [folder, entries]);
  const shown = entries.value;
  // Until the pictures are known the strip keeps its height, so that nothing moves.
  if (shown === null) return <div class="strip" />;
  if (shown.length < 2) return null;
  return (
    <nav class="strip" aria-label="Pictures of this folder">
      {shown.map((entry) => (
        <Button
          key={entry.path}
          aria-current={entry.path === path ? 'true' : undefined}
          title={visible(entry.name)}
          onClick={() => onPick(entry.path)}
        >
          <Thumbnail path={entry.path} alt={visible(fileName(entry.path))} />
        </Button>
      ))}
    </nav>
  );
}
