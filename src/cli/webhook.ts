/** `lattice webhook`: a receiver to try webhooks with. */
import { wholeNumber } from './command-options.js';
import type { RegisterCommand } from './terminal.js';
import type { ListenFlags, VerifyFlags } from './webhook/receiver.js';

const SECRET =
  'whsec_... as the service has it; better in LATTICE_WEBHOOK_SECRET, where other users do not see it';

const LISTEN_EXAMPLES = `
Answers 200, or 401 where a secret is given and the signature is not genuine or older than 5 minutes.
Runs until Ctrl-C (exit code 130).

Examples:
  $ lattice webhook listen
  $ lattice job submit street.jpg --callback-url http://127.0.0.1:9000/
  $ LATTICE_WEBHOOK_SECRET=whsec_... lattice webhook listen --port 9001 --json`;

const VERIFY_EXAMPLES = `
The file of headers has one header per line, \`webhook-id: msg_...\`, or is a JSON object of them; three are needed:
webhook-id, webhook-timestamp and webhook-signature. The body must be the bytes as they arrived.
Exit code: 0 genuine, 1 not genuine, 2 the command line is wrong.

Examples:
  $ LATTICE_WEBHOOK_SECRET=whsec_... lattice webhook verify body.json headers.txt`;

const EXAMPLES = `
Examples:
  $ lattice webhook listen
  $ lattice webhook verify body.json headers.txt`;

export const registerWebhook: RegisterCommand = (program, terminal) => {
  const webhook = program
    .command('webhook')
    .description('receive webhooks here to try them, and check a saved one')
    .addHelpText('after', EXAMPLES);
  webhook
    .command('listen')
    .description('print the webhooks that arrive and check their signatures')
    .option(
      '--port <number>',
      'port to listen on; 0 takes a free one',
      wholeNumber(0, 65_535),
      9000,
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--secret <secret>', SECRET)
    .option('--json', 'print one JSON object per message, with its headers and body')
    .addHelpText('after', LISTEN_EXAMPLES)
    .action(async (flags: ListenFlags) => {
      const { listenForWebhooks } = await import('./webhook/receiver.js');
      await listenForWebhooks(flags, terminal);
    });
  webhook
    .command('verify')
    .description('check the signature of a saved webhook')
    .argument('<body>', 'file with the body')
    .argument('<headers>', 'file with the headers')
    .option('--secret <secret>', SECRET)
    .addHelpText('after', VERIFY_EXAMPLES)
    .action(async (body: string, headers: string, flags: VerifyFlags) => {
      const { verifyWebhook } = await import('./webhook/receiver.js');
      await verifyWebhook(body, headers, flags, terminal);
    });
};
