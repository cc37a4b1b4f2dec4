import type { JSX } from 'preact';
import { Foreign } from './foreign.js';

/** `title` appears under the pointer. */
export type Fact = [name: string, value: string | JSX.Element, title?: string];

export function Facts({ facts, class: kind = 'facts' }: { facts: Fact[]; class?: string }) {
  return (
    <dl class={kind}>
      {facts.map(([name, value, title]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd title={title}>{typeof value === 'string' ? <Foreign text={value} /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}
