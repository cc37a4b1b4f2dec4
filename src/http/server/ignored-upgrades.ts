/**
 * A request for another protocol than WebSocket is answered as if it had no Upgrade header (RFC 9110, 7.8): Java's own
 * client sends `Upgrade: h2c` with every request. Node's parser ends at such a request, since its body and all bytes
 * behind it might be of the other protocol. So it is read again without that header, as the first one of a new parser
 * on the same connection.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

type UpgradeListener = (request: IncomingMessage, socket: Socket, rest: Buffer) => void;

/** Call it after the server's only listener for upgrades was added. `answered` waits for the requests before. */
export function ignoreOtherUpgrades(
  server: Server,
  answered: (socket: Socket) => Promise<void>,
): void {
  const [openWebSocket] = server.listeners('upgrade') as UpgradeListener[];
  if (openWebSocket === undefined) throw new Error('The server takes no upgrades.');
  const take: UpgradeListener = (request, socket, rest) => {
    if (request.headers.upgrade?.toLowerCase() === 'websocket')
      openWebSocket(request, socket, rest);
    else void readAgain(request, socket, rest);
  };
  const readAgain = async (...[request, socket, rest]: Parameters<UpgradeListener>) => {
    // Node's own listener is gone until the new parser is there.
    const ignore = (): void => undefined;
    socket.on('error', ignore);
    // Put the bytes back at once: the end of the client's side, which may be next, must come after them.
    socket.unshift(Buffer.concat([headOf(request), rest]));
    // Two parsers of one connection would not keep the order of their answers.
    await answered(socket);
    socket.off('error', ignore);
    if (socket.writable) server.emit('connection', socket);
  };
  // The adaptor answers refused handshakes only where the listener is the only one.
  server.removeAllListeners('upgrade').on('upgrade', take);
}

/** The head of the request. It must not get longer, so that it stays within the limit of heads. */
function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}:${value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
