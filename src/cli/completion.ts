/** `lattice completion`: the script with which a shell completes command lines of lattice. */
import { Argument } from 'commander';
import { SHELLS, type Shell } from './completion/shells.js';
import type { RegisterCommand } from './terminal.js';

const EXAMPLES = `
The script is for the name \`lattice\`; with npx, say first: alias lattice='npx lattice'
It knows the commands, options, choices and files of this release: make it anew after an update.

Examples:
  $ lattice completion bash > ~/.local/share/bash-completion/completions/lattice
  $ lattice completion zsh > ~/.zfunc/_lattice      # a folder of $fpath, before compinit
  $ lattice completion fish > ~/.config/fish/completions/lattice.fish`;

export const registerCompletion: RegisterCommand = (program, terminal) => {
  program
    .command('completion')
    .description('print the script that lets the Tab key complete commands and options')
    .addArgument(new Argument('<shell>', 'the shell that it is for').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action(async (shell: Shell) => {
      const [{ completedCommands }, { completionScript }] = await Promise.all([
        import('./completion/command-tree.js'),
        import('./completion/scripts.js'),
      ]);
      terminal.out(completionScript(shell, completedCommands(program)));
    });
};
