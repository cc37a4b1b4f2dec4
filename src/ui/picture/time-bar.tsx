import { milliseconds } from '../text/format.js';
import type { TimeStep } from './time-steps.js';

/** The steps of a time, one beside the other. */
export function TimeBar({ title, ms, steps }: { title: string; ms: number; steps: TimeStep[] }) {
  return (
    <section class="time-bar" aria-label={title}>
      <p class="panel-title">
        {title} <b>{milliseconds(ms)}</b>
      </p>
      <div class="stack" aria-hidden="true">
        {steps.map(({ step, ms: part }) => (
          <span
            key={step}
            class="step"
            title={`${step} ${milliseconds(part)}`}
            style={{ flexGrow: String(part), background: colourOf(step) }}
          />
        ))}
      </div>
      <ul class="legend">
        {steps.map(({ step, ms: part }) => (
          <li key={step}>
            <span class="step" style={{ background: colourOf(step) }} aria-hidden="true" />
            {step} <b>{milliseconds(part)}</b>
          </li>
        ))}
      </ul>
    </section>
  );
}

const colourOf = (step: string): string => `var(--step-${step.replace(' ', '-')}, var(--quiet))`;
