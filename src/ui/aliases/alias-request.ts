/** Options and request of the form of an alias, and the effect of an alias in words. */
import type { Alias, AliasPut, Model } from '../../client/records.js';
import { usableModels } from '../models/offered-classes.js';
import { exactPercent, visible } from '../text/format.js';

/** The models that an alias stands for. */
export type AliasContent = Pick<Alias, 'model' | 'canary' | 'shadow'>;

/** Models that an alias can stand for: no other alias. Those of `alias` stay offered, whatever became of them. */
export function aliasModels(models: readonly Model[], aliases: readonly Alias[], alias?: Alias) {
  const taken = new Set(aliases.map(({ name }) => name));
  const usable = usableModels(models).map(({ name, alias_of: of }) =>
    taken.has(name) ? (of ?? name) : name,
  );
  const own = [alias?.model, alias?.canary?.model, alias?.shadow];
  return [...new Set([...own.filter((name) => typeof name === 'string'), ...usable])].sort();
}

/** Reads the fields of the form; those that are empty are none. */
export function aliasPut(textOf: (name: string) => string): AliasPut {
  const [canary, shadow] = [textOf('canary'), textOf('shadow')];
  return {
    model: textOf('model'),
    canary: canary === '' ? null : { model: canary, share: Number(textOf('share')) / 100 },
    shadow: shadow === '' ? null : shadow,
  };
}

/** Percent of a share, without the rounding of the product: 7 for 0.07. */
export const percentOf = (share: number): number => Number((share * 100).toPrecision(12));

/** `first.pt answers; same.pt answers 10 % of the requests in its place; other.pt is its shadow`. */
export function aliasText({ model, canary, shadow }: AliasContent): string {
  return [
    `${visible(model)} answers`,
    ...(canary === null
      ? []
      : [
          `${visible(canary.model)} answers ${exactPercent(canary.share)} of the requests in its place`,
        ]),
    ...(shadow === null ? [] : [`${visible(shadow)} is its shadow`]),
  ].join('; ');
}
