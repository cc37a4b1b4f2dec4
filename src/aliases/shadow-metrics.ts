/** Shadows in the metrics. Aliases are few. */
import type { Metrics } from '../metrics/metrics.js';
import type { ShadowParts, ShadowRuns } from './shadow-runs.js';

/** Returns the function that counts a picture. */
export function shadowCounter(metrics: Metrics): ShadowParts['onPicture'] {
  const count = metrics.counter({
    name: 'lattice_shadow_images_total',
    help: 'Images of shadows by alias and outcome: compared, dropped (the service was busy), failed.',
    labels: ['alias', 'outcome'],
  });
  return (alias, outcome) => {
    count({ alias, outcome });
  };
}

export function addShadowFigures(metrics: Metrics, shadows: Pick<ShadowRuns, 'shares'>): void {
  metrics.figures({
    name: 'lattice_shadow_agreement',
    help: 'Share of the boxes of the latest 50 pictures, 0 to 1, in which the shadow of an alias agrees with its model.',
    read: () => shadows.shares().map(({ alias, share }) => ({ labels: { alias }, value: share })),
  });
}
