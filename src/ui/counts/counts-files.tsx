/** The CSV files of the shown counts, and their request as a command line. */
import { useSignal } from '@preact/signals';
import { Button } from '../parts/button.js';
import { CopyButton } from '../parts/copy-button.js';
import { FileLink } from '../parts/file-link.js';
import { Problem } from '../parts/problem.js';
import { saveFile } from '../parts/save-file.js';
import { apiKey } from '../session/session.js';
import { countsCsv } from './counts-csv.js';
import { countsFile } from './counts-calls.js';
import { countsCommand, countsPath } from './counts-request.js';
import type { ShownRows } from './count-rows.js';

export function CountsFiles({ shown, rows, others, hidden }: ShownRows) {
  const fault = useSignal<unknown>(null);
  const { choice } = shown;
  const name = `${choice.watch === '' ? 'tag' : choice.watch}.counts-by-${choice.by}.csv`;
  const isMade = choice.by === 'class' || choice.by === 'region';
  const ranges = [choice.hours, ...(choice.otherHours ? [choice.otherHours] : [])];
  const command = countsCommand(
    countsPath(choice, choice.hours),
    location.origin,
    apiKey.value !== null,
  );
  const save = (): void => {
    const text = countsCsv(choice.by, rows.rows, others?.rows ?? null, hidden);
    saveFile(new Blob([text], { type: 'text/csv' }), name);
  };
  return (
    <section class="card counts-files">
      <h2>Files and calls</h2>
      <p class="row">
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
        <CopyButton text={command} what="the command" label="Copy the command" />
      </p>
      {fault.value !== null && <Problem error={fault.value} />}
      <pre class="code">
        <code>{command}</code>
      </pre>
    </section>
  );
}
