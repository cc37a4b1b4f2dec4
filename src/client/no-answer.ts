/** Why there was no answer, in words: from the error of a connection that failed. */
import { ServiceError } from './service-error.js';

/** The service, or something between, closed a connection that had been open. */
const BROKEN_OFF = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const SILENT = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT']);
const CERTIFICATE = /CERT|SIGNED|ISSUER|ALTNAME/;

/** `unreachable`, with the address and the reason as one sentence. */
export function unreachable(baseUrl: string, error: unknown): ServiceError {
  const detail = `The service at ${baseUrl} cannot be reached: ${reason(new URL(baseUrl), error)}.`;
  return ServiceError.ofClient('unreachable', detail, { cause: error });
}

export function isBrokenOff(error: unknown): boolean {
  return BROKEN_OFF.has(codeOf(error));
}

function reason({ host, hostname }: URL, error: unknown): string {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return `nothing listens at ${host} (connection refused)`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `the host name ${hostname} is unknown`;
  if (SILENT.has(code)) return `${host} gives no answer (a firewall, a wrong host, or it hangs)`;
  if (BROKEN_OFF.has(code)) return `${host} broke the connection off`;
  if (code.startsWith('HPE_')) return `${host} does not speak HTTP`;
  if (CERTIFICATE.test(code)) {
    return `the TLS certificate of ${host} is not trusted here (${code}; see NODE_EXTRA_CA_CERTS)`;
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) return `${host} does not speak TLS`;
  return `${innermost(error)}${code === '' ? '' : ` (${code})`}`;
}

/** `fetch` hides the error of the system in its causes. */
function codeOf(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
  }
  return '';
}

function innermost(error: unknown): string {
  let message = String(error);
  for (let each = error; each instanceof Error; each = each.cause) message = each.message;
  return message;
}
