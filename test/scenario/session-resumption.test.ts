// full: SQLite
import { once } from 'node:events';
import { type ConnectionOptions, connect } from 'node:tls';
import { expect } from 'chai';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { statusesOf } from '../support/raw-tls.ts';
import { startedForEach } from '../support/started.ts';

describe('a TLS session that a node resumes', () => {
  const hawser = startedForEach(startHawser);
  let own: NodeUnderTest;
  let other: NodeUnderTest;

  beforeEach(async () => {
    own = await hawser.registerNode('own.example.org');
    other = await hawser.registerNode('other.example.org');
  });

  /** One request over a connection of its own, and the session that the server gave out with it. */
  async function ask({ nodeId }: NodeUnderTest, options: ConnectionOptions) {
    const { port, ca } = hawser.target();
    const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost', ...options });
    let received = '';
    let session = options.session;
    let reused = false;
    socket.on('secureConnect', () => {
      reused = socket.isSessionReused();
    });
    socket.on('session', (given: Buffer) => {
      session = given;
    });
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
    });
    const path = `/api/v1/nodes/${nodeId}/configuration/checksum`;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    await once(socket, 'close');
    return { status: statusesOf(received)[0], session, reused };
  }

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const only = { minVersion: version, maxVersion: version };

    it(`stays that of its certificate, whichever is offered with it (${version})`, async () => {
      const { status, session } = await ask(own, { ...only, ...own.identity });
      // Nothing is assigned; a stranger would get 401.
      expect(status).to.equal(404);
      expect(await ask(own, { ...only, session })).to.include({ status: 404, reused: true });
      const offered = { ...only, ...other.identity, session };
      expect(await ask(own, offered)).to.include({ status: 404, reused: true });
      expect(await ask(other, offered)).to.include({ status: 403, reused: true });
    });

    it(`opens nothing once the node is deleted (${version})`, async () => {
      const { session } = await ask(own, { ...only, ...own.identity });
      expect((await hawser.admin.delete(`/api/v1/nodes/${own.nodeId}`)).status).to.equal(204);
      expect(await ask(own, { ...only, ...own.identity, session })).to.include({ status: 401, reused: true });
    });
  }
});
