import type { Model } from '../../client/records.js';
import { hashOf } from '../address/address.js';
import { Foreign } from '../parts/foreign.js';
import { bytes, plural, visible } from '../text/format.js';

const FIRST_CLASSES = 6;

interface ModelCardProps {
  model: Model;
  /** Of all images of the last minutes; null while there are none. */
  share: number | null;
  images: number;
}

export function ModelCard({ model, share, images }: ModelCardProps) {
  const { name, state, reason, is_default: isDefault } = model;
  return (
    <li class="card model">
      <header>
        <h3>
          <Foreign text={name} />
        </h3>
        {isDefault && <span class="badge">default</span>}
        <span class={`pill ${state}`}>{state}</span>
      </header>
      {reason !== null && (
        <p class={state === 'refused' ? 'fault' : 'fine'}>
          <Foreign text={reason} />
        </p>
      )}
      <dl class="facts">
        {factsOf(model, share, images).map(([fact, value]) => (
          <div key={fact}>
            <dt>{fact}</dt>
            <dd>
              <Foreign text={value} />
            </dd>
          </div>
        ))}
        {model.licence !== null && (
          <div>
            <dt>Licence</dt>
            <dd>
              <Licence text={model.licence} />
            </dd>
          </div>
        )}
      </dl>
      <Classes names={model.classes} />
      {state !== 'refused' && (
        <p>
          <a class="button" href={hashOf({ view: 'detect' }, { model: name })}>
            Try it
          </a>
        </p>
      )}
    </li>
  );
}

function factsOf(model: Model, share: number | null, images: number): [string, string][] {
  const { device, precision, input, memory_bytes: memory } = model;
  const size = memory === null ? null : bytes(memory);
  const facts: [string, string | null][] = [
    ['Runs on', device === null ? null : [device, precision].filter(Boolean).join(', ')],
    ['Input', input === null ? null : `${input.width} × ${input.height}`],
    ['Memory', size === null ? null : `${size.text} ${size.unit}`],
    ['Images', images === 0 ? null : plural(images, 'image')],
    ['Load', share === null || share === 0 ? null : `${Math.round(share * 100)} % of images`],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}

/** `NAME (https://...)`, as model files have it, is one link. */
function Licence({ text }: { text: string }) {
  const [, name, address] = /^(.*?)\s*\((https?:\/\/[^)\s]+)\)$/.exec(text) ?? [];
  if (name === undefined || address === undefined) return <Foreign text={text} />;
  return (
    <a href={address} rel="noreferrer" target="_blank">
      <Foreign text={name} />
    </a>
  );
}

/** Eighty names would fill the card: the first ones, and the rest when asked. */
function Classes({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  const shown = names.slice(0, FIRST_CLASSES).map(visible).join(', ');
  if (names.length <= FIRST_CLASSES) {
    return (
      <p class="classes">
        <span class="fine">{plural(names.length, 'class', 'classes')}</span> {shown}
      </p>
    );
  }
  return (
    <details class="classes">
      <summary>
        <span class="fine">{plural(names.length, 'class', 'classes')}</span> {shown} …
      </summary>
      <p>{names.slice(FIRST_CLASSES).map(visible).join(', ')}</p>
    </details>
  );
}
