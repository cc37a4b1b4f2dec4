/** The live page: joins its parts to the service and to the address bar. */
import { Api } from './api.js';
import { DetectView } from './detect-view.js';
import { named, setText } from './elements.js';
import { JobDialog } from './job-dialog.js';
import { JobFeed, type FeedState } from './job-feed.js';
import { JobsView } from './jobs-view.js';
import { createKeyPrompt, savedKey } from './key-prompt.js';
import { socketProtocols, type PageSocket } from '../client/page-socket.js';
import { ServiceView } from './service-view.js';
import { openSubmitForm } from './submit-form.js';
import type { Model } from '../client/records.js';

const PAGES = ['detect', 'jobs', 'service'];

const prompt = createKeyPrompt(() => {
  void start();
});
const api = new Api({
  fetch: window.fetch.bind(window),
  key: () => savedKey.get(),
  onUnauthorized: askForKey,
});
const detectView = new DetectView(api);
const dialog = new JobDialog(api, (job) => {
  jobsView.put(job);
});
const jobsView = new JobsView(api, (job) => {
  dialog.open(job);
});
const offerInSubmitForm = openSubmitForm(api, () => {
  jobsView.refresh();
});
const serviceView = new ServiceView(api, showModels);
const feed = new JobFeed(openSocket, {
  onState: showConnection,
  onEvent: (event) => {
    jobsView.apply(event);
    dialog.apply(event);
  },
  onUnknownPast: () => {
    jobsView.refresh();
  },
  onUnauthorized: askForKey,
});

function openSocket(): PageSocket {
  const url = new URL('/v1/stream', location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  return new WebSocket(url, socketProtocols(savedKey.get())) as PageSocket;
}

function showConnection(state: FeedState): void {
  const place = named('connection', HTMLElement);
  place.className = state.kind === 'live' ? 'live' : 'lost';
  setText(place, connectionText(state));
  if (state.kind !== 'live') return;
  jobsView.retry();
  if (!detectView.hasModels) void offerModels();
}

function connectionText(state: FeedState): string {
  switch (state.kind) {
    case 'connecting':
      return 'Connecting';
    case 'live':
      return 'Live';
    case 'waiting':
      return `Not connected, trying again in ${Math.ceil(state.seconds)} s`;
    case 'stopped':
      return `Not live: ${state.reason}`;
  }
}

function askForKey(): void {
  if (prompt.isOpen) return;
  feed.stop('an API key is needed.');
  jobsView.stop();
  dialog.close();
  prompt.ask();
  showPage();
}

/** The first call tells whether a key is wanted, before the rest asks too. */
async function start(): Promise<void> {
  showPage();
  await offerModels();
  if (prompt.isOpen) return;
  jobsView.refresh();
  feed.start();
}

/** A refusal shows where it matters: by the connection, and by each part that asks. */
async function offerModels(): Promise<void> {
  const answer = await api.get<{ models: Model[] }>('/v1/models').catch(() => null);
  if (answer !== null) showModels(answer.models);
}

function showModels(models: readonly Model[]): void {
  detectView.offer(models);
  offerInSubmitForm(models);
}

function showPage(): void {
  const asked = location.hash.slice(1);
  const current = PAGES.includes(asked) ? asked : 'detect';
  for (const page of PAGES) {
    named(`${page}-page`, HTMLElement).hidden = prompt.isOpen || page !== current;
    const link = document.querySelector(`nav a[href="#${page}"]`);
    if (page === current) link?.setAttribute('aria-current', 'page');
    else link?.removeAttribute('aria-current');
    if (page === current) document.title = `${link?.textContent ?? ''} · lattice-core`;
  }
  jobsView.look();
  serviceView.look();
}

window.addEventListener('hashchange', showPage);
void start();
