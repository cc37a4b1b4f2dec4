/** Why no answer came from a receiver, for the people who read the job: OpenSSL's own lines name its source files. */

const CERTIFICATES = new Map([
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['CERT_NOT_YET_VALID', 'is not valid yet: do the clocks agree?'],
  ['CERT_REVOKED', 'is revoked'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another host name'],
]);
const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|ISSUER|CERT_UNTRUSTED/;
/** Errors of OpenSSL where a server speaks another protocol. */
const NO_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL/;
const MOST_CHARACTERS = 300;

/** Describes the fault in one line of limited length: part of it may come from the receiver. */
export function connectionFault(error: unknown, url: string): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const message = error instanceof Error ? error.message : String(error);
  const text = tlsFault(code, message, url) ?? (message === '' ? code || 'unknown error' : message);
  return text.replace(/\s+/g, ' ').slice(0, MOST_CHARACTERS);
}

function tlsFault(code: string, message: string, url: string): string | null {
  if (!URL.canParse(url)) return null;
  const { host } = new URL(url);
  const certificate = CERTIFICATES.get(code);
  if (certificate !== undefined) return `The TLS certificate of ${host} ${certificate} (${code})`;
  if (UNTRUSTED.test(code)) {
    return `The TLS certificate of ${host} is not trusted here (${code}; see NODE_EXTRA_CA_CERTS)`;
  }
  if (code.startsWith('HPE_')) return `${host} does not speak HTTP (${code})`;
  if (code !== 'EPROTO' && !code.startsWith('ERR_SSL')) return null;
  if (NO_TLS.test(`${code} ${message.replaceAll(' ', '_').toUpperCase()}`)) {
    return `${host} does not speak TLS: is it http:// and not https://?`;
  }
  return `${host} refused the TLS handshake (${code})`;
}
