/** The service: whether it is ready, what runs the network, which models there are. Asked for only while it is seen. */
import type { Api } from './api.js';
import { element, facts, foreign, named, table } from './elements.js';
import { thrownView } from './problem-view.js';
import {
  GPU_HEADINGS,
  MODEL_HEADINGS,
  NODE_HEADINGS,
  WORKER_HEADINGS,
  clusterFacts,
  gpuRows,
  modelRows,
  nodeRows,
  workerRows,
} from './service-facts.js';
import type { ClusterStatus, Model } from '../client/records.js';

const EVERY_MS = 5_000;

export class ServiceView {
  readonly #api: Api;
  readonly #onModels: (models: readonly Model[]) => void;
  readonly #page = named('service-page', HTMLElement);
  readonly #ready = new Place(named('service-ready', HTMLElement));
  readonly #cluster = new Place(named('service-cluster', HTMLElement));
  readonly #models = new Place(named('service-models', HTMLElement));
  #timer: ReturnType<typeof setTimeout> | null = null;
  #asking = false;

  constructor(api: Api, onModels: (models: readonly Model[]) => void) {
    this.#api = api;
    this.#onModels = onModels;
    document.addEventListener('visibilitychange', () => {
      this.look();
    });
  }

  /** Call when it may have come into sight: asks now, and again while it stays there. */
  look(): void {
    if (this.#asking) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (document.hidden || this.#page.offsetParent === null) return;
    this.#asking = true;
    void this.#ask().finally(() => {
      this.#asking = false;
      this.#timer = setTimeout(() => {
        this.look();
      }, EVERY_MS);
    });
  }

  async #ask(): Promise<void> {
    await Promise.all([
      this.#ready.fill(this.#api.get('/readyz'), () => [element('p', {}, 'Ready.')]),
      this.#cluster.fill(this.#api.get<ClusterStatus>('/v1/cluster/status'), clusterParts),
      this.#models.fill(this.#api.get<{ models: Model[] }>('/v1/models'), ({ models }) => {
        this.#onModels(models);
        return [table('What a request may name', MODEL_HEADINGS, textRows(modelRows(models)))];
      }),
    ]);
  }
}

/** Part of the page that is made anew only when what it shows has changed: a selection or the focus stays. */
class Place {
  readonly #element: HTMLElement;
  #shown = '';

  constructor(place: HTMLElement) {
    this.#element = place;
  }

  async fill<T>(asked: Promise<T>, parts: (answer: T) => HTMLElement[]): Promise<void> {
    const made = await asked.then(parts, (error: unknown) => [thrownView(error)]);
    const shown = made.map((part) => part.textContent).join('\n');
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#element.replaceChildren(...made);
  }
}

function clusterParts(status: ClusterStatus): HTMLElement[] {
  const parts = [
    facts(clusterFacts(status).map(([name, value]) => [name, foreign(value)])),
    table('Nodes', NODE_HEADINGS, textRows(nodeRows(status))),
    table('Workers', WORKER_HEADINGS, textRows(workerRows(status))),
  ];
  const gpus = textRows(gpuRows(status));
  return gpus.length === 0 ? parts : [...parts, table('GPUs', GPU_HEADINGS, gpus)];
}

function textRows(rows: readonly (readonly string[])[]): HTMLElement[][] {
  return rows.map((row) => row.map(foreign));
}
