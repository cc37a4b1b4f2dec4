/** An alias of the list: what it stands for, and what can be done with it. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Alias } from '../../client/records.js';
import { Button } from '../parts/button.js';
import { ConfirmButton } from '../parts/confirm-button.js';
import { Facts, type Fact } from '../parts/facts.js';
import { Foreign } from '../parts/foreign.js';
import { Problem } from '../parts/problem.js';
import { service, show } from '../session/session.js';
import { ago, clock, exactPercent, visible } from '../text/format.js';
import { AliasAgreement } from './alias-agreement.js';
import { aliasText, type AliasContent } from './alias-request.js';

interface AliasActions {
  onChange: () => void;
  onPromote: () => void;
  onRollBack: () => void;
  onRemove: () => void;
}

interface AliasRowProps extends AliasActions {
  alias: Alias;
  /** Unix seconds. */
  now: number;
  /** True: the agreement of the alias is shown. */
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
}

export function AliasRow({ alias, now, isOpen, onOpen, ...actions }: AliasRowProps) {
  const { name, shadow } = alias;
  return (
    <li class="card alias-row">
      <header>
        <h3>
          <Foreign text={name} />
        </h3>
        <Actions alias={alias} {...actions} />
      </header>
      <Facts facts={factsOf(alias, now)} />
      {shadow !== null && (
        <details open={isOpen} onToggle={({ currentTarget }) => onOpen(currentTarget.open)}>
          <summary>
            Agreement of <Foreign text={shadow} /> with <Foreign text={alias.model} />
          </summary>
          {isOpen && <AliasAgreement key={`${alias.model} ${shadow}`} name={name} />}
        </details>
      )}
    </li>
  );
}

function factsOf({ model, canary, shadow, version, stored_at: at }: Alias, now: number): Fact[] {
  return [
    ['Model', model],
    ...(canary === null
      ? []
      : [['Canary', `${canary.model}, ${exactPercent(canary.share)} of requests`] satisfies Fact]),
    ...(shadow === null ? [] : [['Shadow', shadow] satisfies Fact]),
    ['Version', `${version}, ${ago(now - at)}`, clock(at, now)],
  ];
}

function Actions({
  alias,
  onChange,
  onPromote,
  onRollBack,
  onRemove,
}: { alias: Alias } & AliasActions) {
  const { name, model, canary, shadow, before } = alias;
  const next = canary?.model ?? shadow;
  return (
    <div class="row alias-actions">
      {next !== null && (
        <ConfirmButton
          label="Promote"
          name={`Promote ${name}`}
          title={`Promote ${visible(next)}?`}
          confirm="Promote it"
          kind="primary"
          onConfirm={onPromote}
        >
          <p>
            <b>
              <Foreign text={next} />
            </b>{' '}
            answers all requests that name {visible(name)} from then on, <Foreign text={model} />{' '}
            none, and the trial ends: the alias has no canary and no shadow then. A rollback takes
            it back.
          </p>
        </ConfirmButton>
      )}
      {before !== null && (
        <ConfirmButton
          label="Roll back"
          name={`Roll back ${name}`}
          title="Take the last change back?"
          confirm="Roll it back"
          kind="primary"
          onConfirm={onRollBack}
        >
          <RollbackText name={name} version={before} />
        </ConfirmButton>
      )}
      <Button name={`Change ${name}`} onClick={onChange}>
        Change
      </Button>
      <ConfirmButton
        label="Delete"
        name={`Delete ${name}`}
        title="Delete this alias?"
        confirm="Delete the alias"
        onConfirm={onRemove}
      >
        <p>
          Requests that name{' '}
          <b>
            <Foreign text={name} />
          </b>{' '}
          are refused from then on, unless a model has that name, and jobs of that name that wait
          fail. Jobs that have begun stay on their model, and the models stay as they are.
        </p>
      </ConfirmButton>
    </div>
  );
}

function RollbackText({ name, version }: { name: string; version: number }) {
  const content = useSignal<AliasContent | null>(null);
  const fault = useSignal<unknown>(null);
  useEffect(() => void show(service.aliases.get(name, version), content, fault), [name, version]);
  if (fault.value !== null) return <Problem error={fault.value} />;
  return (
    <p>
      {visible(name)} stands for what it did in version {version}
      {content.value !== null && `: ${aliasText(content.value)}`}.
    </p>
  );
}
