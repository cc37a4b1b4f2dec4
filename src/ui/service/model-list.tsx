import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { models, modelsFault } from '../models/models.js';
import { Icon } from '../parts/icon.js';
import { Problem } from '../parts/problem.js';
import { useShortcuts } from '../parts/shortcuts.js';
import { Skeleton } from '../parts/skeleton.js';
import { plural } from '../text/format.js';
import { readings } from './history.js';
import { ModelCard } from './model-card.js';

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
