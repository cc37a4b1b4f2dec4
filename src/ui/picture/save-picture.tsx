import { useSignal, type ReadonlySignal } from '@preact/signals';
import { Button } from '../parts/button.js';
import { Problem } from '../parts/problem.js';
import { saveFile } from '../parts/save-file.js';
import { fileName } from '../text/format.js';
import type { PictureMarks } from './marks.js';
import type { ImageSize, ShownBox } from './shown-boxes.js';

const TYPES = ['PNG', 'JPEG'] as const;
type PictureType = (typeof TYPES)[number];

interface SavePictureProps {
  /** Null: there is no picture to draw on. */
  url: string | null;
  name: string;
  size: ImageSize;
  boxes: ReadonlySignal<readonly ShownBox[]>;
  marks: PictureMarks;
}

/** The picture as it is shown, with its boxes and labels, as a file. */
export function SavePicture({ url, name, size, boxes, marks }: SavePictureProps) {
  const fault = useSignal<unknown>(null);
  if (url === null) return null;
  const save = async (type: PictureType): Promise<void> => {
    fault.value = null;
    try {
      const { drawnPicture } = await import('./drawn-picture.js');
      const shown = {
        url,
        size,
        boxes: marks.boxesShown.peek() ? boxes.peek() : [],
        hasLabels: marks.labels.peek() === 'fit',
      };
      const stem = fileName(name).replace(/\.[^.]*$/, '');
      const ending = type.toLowerCase();
      saveFile(await drawnPicture(shown, `image/${ending}`), `${stem}-boxes.${ending}`);
    } catch (error) {
      fault.value = error;
    }
  };
  return (
    <>
      {TYPES.map((type) => (
        <Button
          key={type}
          class="quiet"
          icon="download"
          name={`Save the picture with its boxes as ${type}`}
          onClick={() => void save(type)}
        >
          {type}
        </Button>
      ))}
      {fault.value !== null && <Problem error={fault.value} />}
    </>
  );
}
