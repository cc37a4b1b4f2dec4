/**
 * The completion scripts. Each finds the command of the line word by word (`/job/submit`); then it offers the values of
 * the option before, the options after a dash, or else commands and arguments.
 */
import type { CompletedCommand, Values } from './command-tree.js';
import type { Shell } from './shells.js';

export function completionScript(shell: Shell, commands: readonly CompletedCommand[]): string {
  return SCRIPTS[shell](commands);
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The paths of the commands beneath the program, as the patterns of a `case`. */
const pathsOf = (commands: readonly CompletedCommand[]): string =>
  commands.flatMap(({ path }) => (path === '' ? [] : [path])).join('|');

interface Offers {
  /** The code of the shell that offers these. */
  values: (values: Values) => string;
  words: (words: readonly string[]) => string;
}

/** The branches of a `case` on `PATH:WORD BEFORE`, for options with values. */
function valueBranches(commands: readonly CompletedCommand[], offers: Offers): string {
  const patterns = new Map<string, string[]>();
  for (const { path, options } of commands) {
    for (const { flags, values } of options) {
      if (values === null) continue;
      const offer = offers.values(values);
      const own = flags.map((flag) => `${path}:${flag}`);
      patterns.set(offer, [...(patterns.get(offer) ?? []), ...own]);
    }
  }
  return branchesOf(
    [...patterns].map(([offer, all]) => [all.join('|'), `${offer}; return`] as const),
  );
}

const optionBranches = (commands: readonly CompletedCommand[], { words }: Offers): string =>
  branchesOf(
    commands.map(
      ({ path, options }) => [path || "''", words(options.flatMap(({ flags }) => flags))] as const,
    ),
  );

const argumentBranches = (
  commands: readonly CompletedCommand[],
  { values, words }: Offers,
): string =>
  branchesOf(
    commands.map(
      (each) =>
        [
          each.path || "''",
          each.names.length > 0 ? words(each.names) : values(each.values),
        ] as const,
    ),
  );

const branchesOf = (branches: readonly (readonly [pattern: string, action: string])[]): string =>
  branches.map(([pattern, action]) => `    ${pattern}) ${action} ;;`).join('\n');

function bashScript(commands: readonly CompletedCommand[]): string {
  const words = (all: readonly string[]) =>
    `COMPREPLY=($(compgen -W ${quoted(all.join(' '))} -- "$cur"))`;
  const offers = {
    words,
    values: (values: Values) => {
      if (values === 'text') return 'true';
      if (values === 'files') return '_lattice_names -f';
      return values === 'folders' ? '_lattice_names -d' : words(values);
    },
  };
  return `# bash completion of lattice, made by: lattice completion bash
_lattice_names() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}
_lattice() {
  local cur=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} at= i
  # Bash takes --type=cars for three words.
  if [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ $cur == = ]]; then cur=; fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at/\${COMP_WORDS[i]}" in
      ${pathsOf(commands)}) at=$at/\${COMP_WORDS[i]} ;;
    esac
  done
  case "$at:$before" in
${valueBranches(commands, offers)}
  esac
  if [[ $cur == -* ]]; then case "$at" in
${optionBranches(commands, offers)}
  esac; else case "$at" in
${argumentBranches(commands, offers)}
  esac; fi
}
complete -F _lattice lattice`;
}

function zshScript(commands: readonly CompletedCommand[]): string {
  const words = (all: readonly string[]) => `compadd -- ${all.map(quoted).join(' ')}`;
  const offers = {
    words,
    values: (values: Values) => {
      if (values === 'text') return 'true';
      if (values === 'files') return '_files';
      return values === 'folders' ? '_files -/' : words(values);
    },
  };
  return `#compdef lattice
# zsh completion of lattice, made by: lattice completion zsh
_lattice() {
  local at= i
  for ((i = 2; i < CURRENT; i++)); do
    case "$at/\${words[i]}" in
      ${pathsOf(commands)}) at=$at/\${words[i]} ;;
    esac
  done
  case "$at:\${words[CURRENT-1]}" in
${valueBranches(commands, offers)}
  esac
  if [[ $PREFIX == -* ]]; then case "$at" in
${optionBranches(commands, offers)}
  esac; else case "$at" in
${argumentBranches(commands, offers)}
  esac; fi
}
if [[ $funcstack[1] == _lattice ]]; then _lattice "$@"; else compdef _lattice lattice; fi`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => {
    const when = `complete -c lattice -n '__lattice_at "${command.path}"'`;
    const beneath = commands.filter(({ path }) =>
      command.names.some((name) => path === `${command.path}/${name}`),
    );
    return [
      ...beneath.map(
        ({ path, text }) => `${when} -f -a ${path.split('/').at(-1)} -d ${quoted(firstPart(text))}`,
      ),
      ...(beneath.length > 0 ? [] : [`${when} ${fishValues(command.values)}`]),
      ...command.options.map(({ flags, text, values }) => {
        const names = flags.map((flag) =>
          flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
        );
        const value = values === null ? '' : ` -r ${fishValues(values)}`;
        return `${when} ${names.join(' ')}${value} -d ${quoted(firstPart(text))}`;
      }),
    ];
  });
  return `# fish completion of lattice, made by: lattice completion fish
function __lattice_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    if contains -- $at/$word ${pathsOf(commands).replaceAll('|', ' ')}
      set at $at/$word
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}`;
}

function fishValues(values: Values): string {
  if (values === 'files') return '-F';
  if (values === 'folders') return `-f -a '(__fish_complete_directories)'`;
  return values === 'text' ? '-f' : `-f -a ${quoted(values.join(' '))}`;
}

/** A list of completions has room for the first words of a text. */
const firstPart = (text: string): string => text.split(/[:;,(]/)[0]?.trim() ?? '';
