/** The CSV files of what is shown, and its request as a command line. */
import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Button } from '../parts/button.js';
import { CopyButton } from '../parts/copy-button.js';
import { FileLink } from '../parts/file-link.js';
import { Problem } from '../parts/problem.js';
import { saveFile } from '../parts/save-file.js';
import { apiKey } from '../session/session.js';
import { countsCsv } from './counts-csv.js';
import { countsFile, placesFile } from './counts-calls.js';
import type { CountsChoice } from './counts-choice.js';
import { callCommand, countsPath, placesPath } from './counts-request.js';
import type { ShownRows } from './count-rows.js';

const nameOf = ({ watch }: CountsChoice): string => (watch === '' ? 'tag' : watch);

export function CountsFiles({ shown, rows, others, hidden }: ShownRows) {
  const fault = useSignal<unknown>(null);
  const { choice } = shown;
  const name = `${nameOf(choice)}.counts-by-${choice.by}.csv`;
  const isMade = choice.by === 'class' || choice.by === 'region';
  const ranges = [choice.hours, ...(choice.otherHours ? [choice.otherHours] : [])];
  const save = (): void => {
    const text = countsCsv(choice.by, rows.rows, others?.rows ?? null, hidden);
    saveFile(new Blob([text], { type: 'text/csv' }), name);
  };
  return (
    <Files path={countsPath(choice, choice.hours)} fault={fault}>
      {isMade ? (
        <Button icon="download" onClick={save}>
          CSV
        </Button>
      ) : (
        ranges.map((hours, at) => (
          <FileLink
            key={at}
            path={countsPath(choice, hours, 'csv')}
            fileName={name}
            chunks={() => countsFile(choice, hours)}
            fault={fault}
          >
            {at === 0 ? 'CSV' : 'CSV of the other range'}
          </FileLink>
        ))
      )}
    </Files>
  );
}

export function PlacesFiles({ choice }: { choice: CountsChoice }) {
  const fault = useSignal<unknown>(null);
  return (
    <Files path={placesPath(choice)} fault={fault}>
      <FileLink
        path={placesPath(choice, 'csv')}
        fileName={`${nameOf(choice)}.places.csv`}
        chunks={() => placesFile(choice)}
        fault={fault}
      >
        CSV of the stays
      </FileLink>
    </Files>
  );
}

interface FilesProps {
  /** The call that is shown as a command. */
  path: string;
  fault: Signal<unknown>;
  /** Links to the files. */
  children: ComponentChildren;
}

function Files({ path, fault, children }: FilesProps) {
  const command = callCommand(path, location.origin, apiKey.value !== null);
  return (
    <section class="card counts-files">
      <h2>Files and calls</h2>
      <p class="row">
        {children}
        <CopyButton text={command} what="the command" label="Copy the command" />
      </p>
      {fault.value !== null && <Problem error={fault.value} />}
      <pre class="code">
        <code>{command}</code>
      </pre>
    </section>
  );
}
