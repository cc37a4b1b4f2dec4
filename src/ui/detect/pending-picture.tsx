/** The picture that is being detected, until its boxes come. */
import { useEffect, useState } from 'preact/hooks';
import { FolderStrip } from '../images/folder-strip.js';
import { Foreign } from '../parts/foreign.js';
import { Skeleton } from '../parts/skeleton.js';
import { useLargePicture } from '../picture/use-picture.js';
import { detect } from './detection.js';
import { sourceName, type Source } from './detect-request.js';

export function PendingPicture({ source }: { source: Source }) {
  const path = source.kind === 'path' ? source.path : null;
  const { url: shared } = useLargePicture(path);
  const url = useFileUrl(source.kind === 'file' ? source.file : null) ?? shared;
  return (
    <div class="answer">
      {path !== null && (
        <FolderStrip path={path} onPick={(next) => detect({ kind: 'path', path: next })} />
      )}
      <div class="answer-picture">
        <PlainPicture key={url} url={url} />
      </div>
      <section class="card panel" aria-label="Detections">
        <header class="panel-head">
          <h2>
            <Foreign text={sourceName(source)} />
          </h2>
        </header>
        <Skeleton label="Detecting" lines={5} />
      </section>
    </div>
  );
}

/** Has the shape of the picture as soon as that is known; a kind that the browser cannot show leaves the area grey. */
function PlainPicture({ url }: { url: string | null }) {
  const [ratio, setRatio] = useState<number | null>(null);
  const [isShown, setShown] = useState(true);
  return (
    <figure class="picture" style={ratio === null ? {} : { '--ratio': String(ratio) }}>
      <div class="stage">
        {url !== null && isShown && (
          <img
            src={url}
            alt=""
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
              setRatio(naturalWidth / naturalHeight)
            }
            onError={() => setShown(false)}
          />
        )}
      </div>
    </figure>
  );
}

function useFileUrl(file: File | null): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (file === null) return;
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => {
      setUrl(null);
      URL.revokeObjectURL(made);
    };
  }, [file]);
  return url;
}
