/** When a watch works, how many images its jobs have, whether it tells of cameras: the fields of both its forms. */
import { timesText } from '../../api/watch-times.js';
import type { Watch } from '../../client/lattice-client.js';

export const PATHS_LABEL = 'Folders or globs, one per line; they need not be there yet';

/** The values of `watch`; without one the fields are empty, which stands for the defaults. */
export function TimeFields({ watch }: { watch?: Watch }) {
  const settle = watch?.settle_ms ? watch.settle_ms / 1_000 : null;
  return (
    <div class="submit-more">
      <label class="field">
        <span>Times of day; empty: always</span>
        <input
          name="schedule"
          placeholder="mon-fri@06:00-20:00, sat@08:00-12:00"
          title="In the local time of the service. Files that come at other times wait in the folder"
          spellcheck={false}
          autocomplete="off"
          defaultValue={timesText(watch?.schedule ?? [])}
        />
      </label>
      <label class="field">
        <span>Seconds at rest before a file counts</span>
        <NumberField name="settle" least={0.1} most={600} empty="1" value={settle} />
      </label>
      <div class="field-pair">
        <label class="field">
          <span>Most images per job</span>
          <NumberField
            name="images"
            least={1}
            most={10_000}
            empty="100"
            value={watch?.batch?.max_images}
          />
        </label>
        <label class="field">
          <span>Seconds that the first one waits for others</span>
          <NumberField
            name="wait"
            least={0}
            most={3_600}
            empty="0"
            value={watch?.batch?.max_wait_s}
          />
        </label>
        <label class="field">
          <span>Seconds between pictures of one event, which is told once</span>
          <NumberField
            name="gap"
            least={0}
            most={86_400}
            empty="not told"
            value={watch?.event_gap_s}
          />
        </label>
      </div>
      <label class="check">
        <input type="checkbox" name="health" defaultChecked={watch?.camera_health === true} />
        Tell when a camera is covered, turned away, out of focus, frozen or late; each folder is one
      </label>
    </div>
  );
}

interface NumberFieldProps {
  name: string;
  least: number;
  most: number;
  /** The value that an empty field stands for. */
  empty: string;
  value: number | null | undefined;
}

const NumberField = ({ name, least, most, empty, value }: NumberFieldProps) => (
  <input
    name={name}
    type="number"
    min={least}
    max={most}
    step={name === 'images' ? 1 : 'any'}
    placeholder={empty}
    defaultValue={value ?? undefined}
  />
);
