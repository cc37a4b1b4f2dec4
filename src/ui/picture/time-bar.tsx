import type { ImageFields } from '../../client/records.js';
import { milliseconds } from '../text/format.js';
import { timeSteps } from './time-steps.js';

/** The steps of an image's time, one beside the other. */
export function TimeBar({
  image,
}: {
  image: Pick<ImageFields, 'timings_ms' | 'processing_time_ms'>;
}) {
  const steps = timeSteps(image);
  return (
    <section class="time-bar" aria-label="Time">
      <p class="panel-title">
        Time <b>{milliseconds(image.processing_time_ms)}</b>
      </p>
      <div class="stack" aria-hidden="true">
        {steps.map(({ step, ms, text }) => (
          <span
            key={step}
            class={`step ${step.replace(' ', '-')}`}
            title={`${step} ${text}`}
            style={{ flexGrow: String(ms) }}
          />
        ))}
      </div>
      <ul class="legend">
        {steps.map(({ step, text }) => (
          <li key={step}>
            <span class={`step ${step.replace(' ', '-')}`} aria-hidden="true" />
            {step} <b>{text}</b>
          </li>
        ))}
      </ul>
    </section>
  );
}
