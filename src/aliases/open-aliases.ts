/** The names by which jobs and requests ask for models, and the shadows of those that are on trial. */
import type { Logger } from '../base/logger-port.js';
import type { ReleaseList } from '../base/releases.js';
import type { Detector } from '../execution/detector.js';
import type { Metrics } from '../metrics/metrics.js';
import type { StoredAlias } from '../store/alias-rows.js';
import { withAliases } from './aliased-detector.js';
import { ModelAliases, type AliasStore } from './model-aliases.js';
import { addShadowFigures, shadowCounter } from './shadow-metrics.js';
import { ShadowRuns } from './shadow-runs.js';

export interface AliasParts {
  store: AliasStore;
  /** All that the store has. */
  stored: readonly StoredAlias[];
  /** Knows models by their own names. */
  detector: Detector;
  logger: Logger;
  metrics: Metrics;
  releases: ReleaseList;
}

export interface Aliases {
  aliases: ModelAliases;
  shadows: ShadowRuns;
  /** Knows models by their aliases too. */
  detector: Detector;
}

export function openAliases(parts: AliasParts): Aliases {
  const { store, stored, detector, logger, metrics, releases } = parts;
  const aliases = new ModelAliases(store, detector, stored);
  const shadows = new ShadowRuns({
    detector,
    find: (name) => aliases.find(name),
    logger,
    onPicture: shadowCounter(metrics),
  });
  addShadowFigures(metrics, shadows);
  releases.add('shadows', () => {
    shadows.close();
  });
  return { aliases, shadows, detector: withAliases(detector, aliases, shadows) };
}
