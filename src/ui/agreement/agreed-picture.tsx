/** A picture on which two models do not agree, with the boxes of both. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ComparedBox } from '../../boxes/changes.js';
import { Foreign } from '../parts/foreign.js';
import { Modal } from '../parts/modal.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { ComparedPicture } from '../picture/compared-picture.js';
import type { ImageSize, ShownBox } from '../picture/shown-boxes.js';
import { show } from '../session/session.js';
import { fileName, visible } from '../text/format.js';

interface Compared {
  size: ImageSize;
  boxes: readonly ComparedBox<ShownBox>[];
}

/** The boxes of both models. */
export type ReadCompared<L> = (picture: L) => Promise<Compared>;

interface AgreedPictureProps<L> {
  picture: L;
  names: readonly [string, string];
  read: ReadCompared<L>;
  onClose: () => void;
}

export function AgreedPicture<L extends { image_path: string }>(props: AgreedPictureProps<L>) {
  const { picture, names, read, onClose } = props;
  const [first, second] = names;
  const compared = useSignal<Compared | null>(null);
  const fault = useSignal<unknown>(null);
  useEffect(() => void show(read(picture), compared, fault), [picture]);
  return (
    <Modal title={visible(fileName(picture.image_path))} wide onClose={onClose}>
      <div class="picker-scroll agreed-picture">
        <p class="fine">
          <Foreign text={picture.image_path} /> · lost: boxes of <Foreign text={first} /> only;
          gained: of <Foreign text={second} /> only; changed: another class, confidence or place
        </p>
        {fault.value !== null && <Problem error={fault.value} />}
        {fault.value === null && compared.value === null && (
          <Skeleton label="Reading the boxes of both models" lines={5} />
        )}
        {compared.value !== null && (
          <ComparedPicture
            path={picture.image_path}
            size={compared.value.size}
            compared={compared.value.boxes}
          />
        )}
      </div>
    </Modal>
  );
}
