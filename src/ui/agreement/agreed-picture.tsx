/** A picture on which two models do not agree, with the boxes of both. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { compareBoxes } from '../../api/box-changes.js';
import type { ImageFields } from '../../client/records.js';
import { Foreign } from '../parts/foreign.js';
import { Modal } from '../parts/modal.js';
import { Problem } from '../parts/problem.js';
import { Skeleton } from '../parts/skeleton.js';
import { ComparedPicture } from '../picture/compared-picture.js';
import type { ShownBox } from '../picture/shown-boxes.js';
import { show } from '../session/session.js';
import { fileName, visible } from '../text/format.js';

type Answer = Pick<ImageFields, 'image' | 'detections'>;

/** The answers of the first and of the second model. */
export type ReadAnswers<L> = (picture: L) => Promise<readonly [Answer, Answer]>;

interface AgreedPictureProps<L> {
  picture: L;
  names: readonly [string, string];
  read: ReadAnswers<L>;
  onClose: () => void;
}

export function AgreedPicture<L extends { image_path: string }>(props: AgreedPictureProps<L>) {
  const { picture, names, read, onClose } = props;
  const [first, second] = names;
  const answers = useSignal<readonly [Answer, Answer] | null>(null);
  const fault = useSignal<unknown>(null);
  useEffect(() => void show(read(picture), answers, fault), [picture]);
  return (
    <Modal title={visible(fileName(picture.image_path))} wide onClose={onClose}>
      <div class="picker-scroll agreed-picture">
        <p class="fine">
          <Foreign text={picture.image_path} /> · lost: boxes of <Foreign text={first} /> only;
          gained: of <Foreign text={second} /> only; changed: another class, confidence or place
        </p>
        {fault.value !== null && <Problem error={fault.value} />}
        {fault.value === null && answers.value === null && (
          <Skeleton label="Reading the boxes of both models" lines={5} />
        )}
        {answers.value !== null && <Drawn path={picture.image_path} answers={answers.value} />}
      </div>
    </Modal>
  );
}

function Drawn({ path, answers }: { path: string; answers: readonly [Answer, Answer] }) {
  const [first, second] = answers;
  const compared = useMemo(() => compareBoxes(numbered(first), numbered(second)), [first, second]);
  return <ComparedPicture path={path} size={first.image} compared={compared} />;
}

const numbered = ({ detections }: Answer): ShownBox[] =>
  detections.map((detection, id) => ({ ...detection, id }));
