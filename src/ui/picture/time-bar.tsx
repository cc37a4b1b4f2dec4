import { milliseconds } from '../text/format.js';
import type { TimeStep } from './time-steps.js';

interface TimeBarProps {
  title: string;
  ms: number;
  steps: TimeStep[];
  /** Whether the times of the steps are shown from the start. */
  isOpen?: boolean;
}

/** The steps of a time, one beside the other. */
export function TimeBar({ title, ms, steps, isOpen = false }: TimeBarProps) {
  return (
    <details class="time-bar" open={isOpen}>
      <summary>
        <span class="panel-title">
          {title} <b>{milliseconds(ms)}</b>
        </span>
        <span class="stack" aria-hidden="true">
          {steps.map(({ step, ms: part }) => (
            <span
              key={step}
              class="step"
              title={`${step} ${milliseconds(part)}`}
              style={{ flexGrow: String(part), background: colourOf(step) }}
            />
          ))}
        </span>
      </summary>
      <ul class="legend">
        {steps.map(({ step, ms: part }) => (
          <li key={step}>
            <span class="step" style={{ background: colourOf(step) }} aria-hidden="true" />
            {step} <b>{milliseconds(part)}</b>
          </li>
        ))}
      </ul>
    </details>
  );
}

const colourOf = (step: string): string => `var(--step-${step.replace(' ', '-')}, var(--quiet))`;
