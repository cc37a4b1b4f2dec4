import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Model } from '../../client/records.js';
import { hashOf } from '../address/address.js';
import { models, modelsFault } from '../models/models.js';
import { Facts, type Fact } from '../parts/facts.js';
import { Foreign } from '../parts/foreign.js';
import { Icon } from '../parts/icon.js';
import { Problem } from '../parts/problem.js';
import { useShortcuts } from '../parts/shortcuts.js';
import { Skeleton } from '../parts/skeleton.js';
import { bytes, percent, plural, visible } from '../text/format.js';
import { readings } from './history.js';

export function ModelList() {
  const search = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  const now = readings.value.at(-1);
  const first = readings.value[0];
  useShortcuts('Service', [
    { keys: '/', title: 'Search in the models', run: () => field.current?.focus() },
  ]);
  const all = models.value;
  if (all === null) {
    if (modelsFault.value !== null) return <Problem error={modelsFault.value} />;
    return <Skeleton label="Reading the models" />;
  }
  const grown = (name: string) => (now?.models[name] ?? 0) - (first?.models[name] ?? 0);
  const total = all.reduce((sum, { name }) => sum + grown(name), 0);
  const wanted = search.value.trim().toLowerCase();
  const shown = all.filter(({ name, classes }) =>
    [name, ...classes].some((text) => text.toLowerCase().includes(wanted)),
  );
  return (
    <section>
      <header class="models-head">
        <h2>
          Models <span class="fine">{plural(all.length, 'model')}</span>
        </h2>
        {all.length > 3 && (
          <label class="search">
            <Icon name="search" />
            <input
              ref={field}
              type="search"
              placeholder="Model or class"
              aria-label="Search for a model or a class"
              value={search.value}
              onInput={({ currentTarget }) => (search.value = currentTarget.value)}
            />
          </label>
        )}
      </header>
      <ul class="cards models">
        {shown.map((model) => (
          <ModelCard
            key={model.name}
            model={model}
            images={now?.models[model.name] ?? 0}
            share={total > 0 ? grown(model.name) / total : null}
          />
        ))}
      </ul>
    </section>
  );
}

const FIRST_CLASSES = 6;

interface ModelCardProps {
  model: Model;
  /** Share of all images of the last minutes; null while there are none. */
  share: number | null;
  images: number;
}

function ModelCard({ model, share, images }: ModelCardProps) {
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
        <p class="fault">
          <Foreign text={reason} />
        </p>
      )}
      <Facts facts={factsOf(model, share, images)} />
      <Classes names={model.classes} />
      {state !== 'refused' && (
        <p>
          <a class="button" href={hashOf({ screen: 'detect' }, { model: name })}>
            Try it
          </a>
        </p>
      )}
    </li>
  );
}

function factsOf(model: Model, share: number | null, images: number): Fact[] {
  const { device, precision, agreement, input, memory_bytes: memory, release } = model;
  const { alias_of: alias } = model;
  const size = memory === null ? null : bytes(memory);
  const facts: [string, Fact[1] | null][] = [
    ['Runs on', device === null ? null : [device, precision].filter(Boolean).join(', ')],
    ['As f32 on the CPU', agreement === null ? null : `${percent(agreement)} of its boxes`],
    [
      'Stands for',
      alias === null ? null : <Foreign text={`${alias.replace(/\.pt$/, '')} ${release ?? ''}`} />,
    ],
    ['Release', alias !== null || release === null ? null : <Foreign text={release} />],
    ['Digest', model.digest],
    ['Input', input === null ? null : `${input.width} × ${input.height}`],
    ['Memory', size === null ? null : `${size.text} ${size.unit}`],
    ['Images', images === 0 ? null : plural(images, 'image')],
    ['Load', share === null || share === 0 ? null : `${Math.round(share * 100)} % of images`],
    ['Threshold', percent(model.confidence_threshold)],
    ['Licence', model.licence === null ? null : <Licence text={model.licence} />],
  ];
  return facts.flatMap(([fact, value]): Fact[] => (value === null ? [] : [[fact, value]]));
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
