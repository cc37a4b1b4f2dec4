/** `lattice doctor`: checks the machine and the settings, and says how to fix what is wrong. */
import type { Finding } from './doctor/checks.js';
import { addSettingFlags, configOf } from './setting-flags.js';
import { renderTable } from './output-text.js';
import { EXIT_FAILED, type RegisterCommand } from './terminal.js';

const SETTINGS = [
  ...(['env', 'host', 'port', 'imageRoots', 'modelsDir', 'modelFamily', 'dataDir'] as const),
  ...(['device', 'precision', 'threads', 'apiKeysFile'] as const),
];

const EXAMPLES = `
Exit code: 0 the service can run (warnings included), 1 something fails, 2 the command line is wrong.

Examples:
  $ lattice doctor
  $ lattice doctor --data-dir /var/lib/lattice --port 8080
  $ lattice doctor --json`;

export const registerDoctor: RegisterCommand = (program, terminal) => {
  const command = program
    .command('doctor')
    .description('check the machine and the settings, and say how to fix what is wrong')
    .option('--json', 'print one JSON object')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: { json?: boolean }) => {
      const { examine } = await import('./doctor/checks.js');
      const findings = await examine(configOf(flags));
      const healthy = findings.every(({ state }) => state !== 'fail');
      if (flags.json === true) terminal.out(JSON.stringify({ ok: healthy, findings }, null, 2));
      else for (const line of report(findings)) terminal.out(line);
      if (!healthy) terminal.setExitCode(EXIT_FAILED);
    });
  addSettingFlags(command, SETTINGS);
};

function report(findings: readonly Finding[]): string[] {
  const lines = renderTable(findings.map(({ state, name, detail }) => [state, name, detail]));
  const mended = lines.flatMap((line, index) => {
    const fix = findings[index]?.fix;
    return fix === undefined ? [line] : [line, `      fix: ${fix}`];
  });
  const count = (state: Finding['state']) => findings.filter((each) => each.state === state).length;
  return [
    ...mended,
    '',
    `${count('ok')} ok, ${count('warn')} to look at, ${count('fail')} failing`,
  ];
}
