/** A watch of the list: its folders, its state, what became of their files, and what can be done with it. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Watch } from '../../client/lattice-client.js';
import { CameraFindings } from './camera-findings.js';
import { hashOf } from '../address/address.js';
import { StatePill } from '../jobs/state-pill.js';
import { Button } from '../parts/button.js';
import { ConfirmButton } from '../parts/confirm-button.js';
import { Facts, type Fact } from '../parts/facts.js';
import { Foreign } from '../parts/foreign.js';
import { Icon } from '../parts/icon.js';
import { ago, clock, duration, grouped } from '../text/format.js';

interface WatchRowProps {
  watch: Watch;
  /** The address names it. */
  isNamed: boolean;
  /** Unix seconds. */
  now: number;
  onPause: (paused: boolean) => Promise<unknown>;
  onChange: () => void;
  onRemove: () => void;
}

export function WatchRow({ watch, isNamed, now, ...actions }: WatchRowProps) {
  const { name, paths, state, reason } = watch;
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (!isNamed) return;
    row.current?.scrollIntoView({ block: 'center' });
    row.current?.focus({ preventScroll: true });
  }, [isNamed]);
  return (
    <li ref={row} tabIndex={-1} class="card watch-row" aria-current={isNamed ? 'true' : undefined}>
      <div class="watch-head">
        <h2>
          <Foreign text={name} />
        </h2>
        <StatePill state={state} />
        {reason !== null && (
          <span class={state === 'away' ? 'bad' : 'fine'}>
            <Foreign text={reason} />
          </span>
        )}
      </div>
      <Actions watch={watch} {...actions} />
      <p class="fine watch-paths">
        <Foreign text={paths.join(', ')} />
      </p>
      <Facts facts={factsOf(watch, now)} />
      {watch.camera_health === true && <CameraFindings watch={name} now={now} />}
    </li>
  );
}

function Actions({ watch, onPause, onChange, onRemove }: Omit<WatchRowProps, 'isNamed' | 'now'>) {
  const { name, paused } = watch;
  const isBusy = useSignal(false);
  const pause = async (): Promise<void> => {
    isBusy.value = true;
    await onPause(paused !== true);
    isBusy.value = false;
  };
  return (
    <div class="row watch-actions">
      <a class="button" href={hashOf({ screen: 'jobs' }, { watch: name })}>
        <Icon name="jobs" /> Jobs<span class="hidden-label"> of {name}</span>
      </a>
      <a class="button" href={hashOf({ screen: 'counts' }, { watch: name })}>
        <Icon name="counts" /> Counts<span class="hidden-label"> of {name}</span>
      </a>
      {/* It keeps the focus: a disabled button would lose it. */}
      <Button
        name={`${paused === true ? 'Resume' : 'Pause'} ${name}`}
        aria-disabled={isBusy.value}
        onClick={() => {
          if (!isBusy.peek()) void pause();
        }}
      >
        {paused === true ? 'Resume' : 'Pause'}
      </Button>
      <Button name={`Change ${name}`} onClick={onChange}>
        Change
      </Button>
      <ConfirmButton
        label="Remove"
        name={`Remove ${name}`}
        title="Remove this watch?"
        confirm="Remove the watch"
        onConfirm={onRemove}
      >
        <p>
          The watch{' '}
          <b>
            <Foreign text={name} />
          </b>{' '}
          ends, and what it knows of its files is forgotten: a new watch of the folders submits the
          files that are there again, unless it leaves them.
        </p>
        <p>Its jobs go on and stay with their results, and the files stay where they are.</p>
      </ConfirmButton>
    </div>
  );
}

function factsOf({ files, last_scan: scan, lag_s: lag }: Watch, now: number): Fact[] {
  const skipped = Object.entries(files.skipped);
  const left = skipped.reduce((sum, [, count]) => sum + count, 0);
  const reasons = skipped.map(([reason, count]) => `${reason}: ${grouped(count)}`).join(', ');
  return [
    ['Files known', grouped(files.known), 'In their present version submitted or left'],
    ['Waiting', grouped(files.waiting), 'Seen, and not in a job yet'],
    ['Failed', <Failed count={files.failed} />, 'Since the watch began'],
    ...(left > 0 ? [['Not taken', `${grouped(left)} (${reasons})`] satisfies Fact] : []),
    [
      'Lag, median',
      lag === null ? 'no result yet' : duration(lag.p50),
      'From the arrival of a file to its result',
    ],
    scan === null
      ? ['Last scan', 'not yet']
      : [
          'Last scan',
          ago(now - scan.at),
          `${clock(scan.at, now)}, took ${duration(scan.took_ms / 1_000)}`,
        ],
  ];
}

const Failed = ({ count }: { count: number }) => (
  <span class={count > 0 ? 'bad' : undefined}>{grouped(count)}</span>
);
