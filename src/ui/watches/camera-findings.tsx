/** The cameras of a watch: how many there are, and what is wrong with them, each with the picture that began it. */
import type { Camera, CameraFindingPatch } from '../../client/records.js';
import { useRepeated } from '../live/use-repeated.js';
import { Button } from '../parts/button.js';
import { Foreign } from '../parts/foreign.js';
import { Problem } from '../parts/problem.js';
import { ImageLink } from '../picture/image-link.js';
import { Thumbnail } from '../picture/thumbnail.js';
import { service } from '../session/session.js';
import { clock, plural } from '../text/format.js';

type Finding = Camera['findings'][number];

const SILENCE_S = 86_400;

const WORDS: Record<Finding['kind'], string> = {
  covered: 'Covered: dark in light hours, or of one colour',
  frozen: 'Frozen: the same picture again',
  moved: 'Moved: it shows another view',
  blurred: 'Blurred',
  late: 'Late: no picture for much longer than usual',
  unusual_counts: 'Far more or fewer boxes than in the same hours before',
  unusual_confidence: 'Boxes are much surer or less sure than in the same hours before',
};

/** `now`: Unix seconds. */
export function CameraFindings({ watch, now }: { watch: string; now: number }) {
  const { answer, fault, actionFault, act } = useRepeated(() => service.cameras(watch));
  if (answer.value === null) return fault.value === null ? null : <Problem error={fault.value} />;
  const cameras = answer.value;
  const found = cameras.flatMap((camera) =>
    camera.findings.map((finding) => ({ camera: camera.camera, finding })),
  );
  const change = (patch: CameraFindingPatch) => act(service.changeCameraFinding(watch, patch));
  return (
    <section class="watch-cameras" aria-label={`Cameras of ${watch}`}>
      <p class={found.length > 0 ? 'bad' : 'fine'} role="status">
        {cameras.length === 0
          ? 'No picture of a camera yet'
          : `${plural(cameras.length, 'camera')}, ${found.length === 0 ? 'nothing found' : plural(found.length, 'finding')}`}
      </p>
      {actionFault.value !== null && <Problem error={actionFault.value} />}
      {found.length > 0 && (
        <ul class="camera-findings">
          {found.map(({ camera, finding }) => (
            <li key={`${camera} ${finding.kind}`}>
              <FindingCard camera={camera} finding={finding} now={now} onChange={change} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface FindingCardProps {
  camera: string;
  finding: Finding;
  now: number;
  onChange: (patch: CameraFindingPatch) => Promise<unknown>;
}

function FindingCard({ camera, finding, now, onChange }: FindingCardProps) {
  const { kind, began, image, silenced_until: until } = finding;
  const isSilenced = until !== null && until > now;
  const silence = isSilenced ? 'Tell of it again' : 'Silence for a day';
  return (
    <>
      <ImageLink image={image} name={`Picture of ${camera} that began it`}>
        <Thumbnail path={image?.image_path ?? ''} alt="" />
      </ImageLink>
      <div>
        <b>
          <Foreign text={camera} />
        </b>
        <p>
          {WORDS[kind]}, since {began.replace('T', ' ')}
        </p>
        {isSilenced && <p class="fine">Silenced until {clock(until, now)}</p>}
        <p class="row">
          <Button
            name={`${silence}: ${kind}, ${camera}`}
            onClick={() =>
              void onChange({ camera, kind, silenced_until: isSilenced ? now : now + SILENCE_S })
            }
          >
            {silence}
          </Button>
          <Button
            name={`Dismiss: ${kind}, ${camera}; it is how the camera is`}
            onClick={() => void onChange({ camera, kind, dismissed: true })}
          >
            Dismiss
          </Button>
        </p>
      </div>
    </>
  );
}
