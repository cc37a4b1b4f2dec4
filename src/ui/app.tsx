/** The frame of every screen: bar, navigation, connection, and the screen that the address names. */
import { useComputed } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { hashOf, type Route } from './address/address.js';
import { address, goTo } from './address/location.js';
import { DetectView } from './detect/detect-view.js';
import { Connection } from './live/connection.js';
import { Button } from './parts/button.js';
import { Icon, type IconName } from './parts/icon.js';
import { lazy } from './parts/lazy.js';
import { isHelpOpen, useShortcuts } from './parts/shortcuts.js';
import { apiKey, forgetKey, keyAsked } from './session/session.js';

/** A visit that begins with a picture needs no list. */
const JobsView = lazy(
  'Opening the jobs',
  async () => {
    const { JobsView: loaded } = await import('./jobs/jobs-view.js');
    return loaded;
  },
  'Jobs',
);

/** Loaded by itself, with the picture grid, which no other screen needs. */
const JobPage = lazy(
  'Opening the job',
  async () => {
    const { JobPage: loaded } = await import('./job/job-page.js');
    return loaded;
  },
  'Job',
);

/** Most visits look at no watch. */
const WatchesView = lazy(
  'Opening the watches',
  async () => {
    const { WatchesView: loaded } = await import('./watches/watches-view.js');
    return loaded;
  },
  'Watches',
);

const CountsView = lazy(
  'Opening the counts',
  async () => {
    const { CountsView: loaded } = await import('./counts/counts-view.js');
    return loaded;
  },
  'Counts',
);

/** Loaded by itself, with the charts, which no other screen needs. */
const ServiceView = lazy(
  'Opening the view',
  async () => {
    const { ServiceView: loaded } = await import('./service/service-view.js');
    return loaded;
  },
  'Service',
);

const ShortcutHelp = lazy('Opening the keys', async () => {
  const { ShortcutHelp: loaded } = await import('./parts/shortcut-help.js');
  return loaded;
});

/** Most services of one machine have no keys. */
const KeyPage = lazy('Opening the key', async () => {
  const { KeyPage: loaded } = await import('./session/key-page.js');
  return loaded;
});

type Section = 'detect' | 'jobs' | 'watches' | 'counts' | 'service';

const SECTIONS: readonly { screen: Section; name: string; icon: IconName }[] = [
  { screen: 'detect', name: 'Detect', icon: 'detect' },
  { screen: 'jobs', name: 'Jobs', icon: 'jobs' },
  { screen: 'watches', name: 'Watches', icon: 'eye' },
  { screen: 'counts', name: 'Counts', icon: 'counts' },
  { screen: 'service', name: 'Service', icon: 'service' },
];

const GO = SECTIONS.map(({ screen, name }) => ({
  keys: `g ${name.charAt(0).toLowerCase()}`,
  title: `Go to ${name}`,
  run: () => goTo({ screen }),
}));

export function App() {
  const isAsked = useComputed(() => keyAsked.value !== null).value;
  useShortcuts('Everywhere', GO);
  return (
    <>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href="#/detect">
          <img src="/ui/icon.svg" alt="" width="22" height="22" />
          lattice-core
        </a>
        <Navigation />
        <Connection />
        {apiKey.value !== null && (
          <Button icon="key" class="quiet" onClick={forgetKey}>
            Forget the key
          </Button>
        )}
      </header>
      <main id="main" tabIndex={-1}>
        {isAsked ? <KeyPage /> : <CurrentView />}
      </main>
      {isHelpOpen.value && <ShortcutHelp />}
    </>
  );
}

function Navigation() {
  const current = sectionOf(address.value.route);
  return (
    <nav class="sections" aria-label="Views">
      {SECTIONS.map(({ screen, name, icon }) => (
        <a
          key={screen}
          href={hashOf({ screen })}
          aria-current={screen === current ? 'page' : undefined}
        >
          <Icon name={icon} />
          <span>{name}</span>
        </a>
      ))}
      <a href="/docs">
        <Icon name="book" />
        <span>API</span>
      </a>
    </nav>
  );
}

function CurrentView() {
  const { route } = address.value;
  const section = sectionOf(route);
  useViewChange(section, SECTIONS.find(({ screen }) => screen === section)?.name ?? '');
  switch (route.screen) {
    case 'detect':
      return <DetectView />;
    case 'jobs':
      return <JobsView />;
    case 'job':
    case 'image':
      return <JobPage />;
    case 'watches':
      return <WatchesView />;
    case 'counts':
      return <CountsView />;
    case 'service':
      return <ServiceView />;
  }
}

function sectionOf({ screen }: Route): Section {
  return screen === 'job' || screen === 'image' ? 'jobs' : screen;
}

/** Readers of a screen are told by the title and the focus that another screen has come. */
function useViewChange(section: string, name: string): void {
  const before = useRef(section);
  useEffect(() => {
    document.title = `${name} · lattice-core`;
    if (before.current === section) return;
    before.current = section;
    window.scrollTo(0, 0);
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [section, name]);
}

/** The address is that of the screen: the link must not change it. */
function skipToMain(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
