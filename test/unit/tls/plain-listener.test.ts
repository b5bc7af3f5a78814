/** The listener without TLS: what it answers to broken requests and how it closes is the same. */

import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { createListener, type Listener } from '../../../src/http/listener.ts';
import { SECOND, systemClock } from '../../../src/lib/clock.ts';
import { createLog } from '../../../src/lib/log.ts';
import { until } from '../../support/git-client.ts';
import { type Client, clientOn } from './client.ts';

describe('listener without TLS', () => {
  let listener: Listener;
  let port: number;
  let pending: ServerResponse[];
  const clients: Socket[] = [];

  beforeEach(async () => {
    pending = [];
    listener = createListener({
      material: { server: null, nodeCa: null, nodeCrl: null, newValidator: null },
      proxies: { trusted: ['127.0.0.1'], certificateHeader: 'Client-Cert' },
      handler: (request, response) => {
        if (request.url === '/slow') pending.push(response);
        else response.end('answered');
      },
      log: createLog('silent'),
      clock: systemClock,
    });
    port = await listener.listen('127.0.0.1', 0);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await listener.close(0);
  });

  async function open(): Promise<Client> {
    const socket = connect({ host: '127.0.0.1', port });
    clients.push(socket);
    return clientOn(socket, 'connect');
  }

  const problems: [what: string, text: string, status: number, code: string][] = [
    ['another protocol', 'SSH-2.0-x\r\n\r\n', 400, 'malformed_request'],
    ['a missing Host', 'GET / HTTP/1.1\r\n\r\n', 400, 'malformed_request'],
    ['oversized headers', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'header_too_large'],
  ];
  for (const [what, text, status, code] of problems) {
    it(`answers ${what} with a problem`, async () => {
      const client = await open();
      client.socket.write(text);
      await client.closed;
      const [head = '', body = ''] = client.received().split('\r\n\r\n');
      expect(head).to.match(new RegExp(`^HTTP/1.1 ${status} `));
      expect(JSON.parse(body)).to.include({ status, code });
    });
  }

  it('keeps connections of a proxy over a change of the node CA, idle ones too', async () => {
    const client = await open();
    const ask = () => client.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    ask();
    await until(() => client.received().includes('answered'), 'an answer');
    listener.reload({ server: null, nodeCa: 'another', nodeCrl: null, newValidator: null });
    ask();
    await until(() => client.received().split('answered').length === 3, 'another answer');
  });

  it('closes idle connections at once, and others with their answer', async () => {
    const [idle, unused, waiting] = [await open(), await open(), await open()];
    idle.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    waiting.socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => idle.received().endsWith('answered') && pending.length === 1, 'both at work');
    const closed = listener.close(20 * SECOND);
    await Promise.all([idle.closed, unused.closed]);
    pending[0]?.end('late');
    await closed;
    await waiting.closed;
    expect(waiting.received())
      .to.match(/\r\nConnection: close\r\n/)
      .and.to.match(/late$/);
  });
});
