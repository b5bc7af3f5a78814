import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { makePost, type PostOptions } from '../../../src/events/post.ts';
import { AddressSet } from '../../../src/lib/address-set.ts';
import { Receiver, ReceiverAuthority } from '../../support/webhooks.ts';

const LOCAL = new AddressSet(['127.0.0.1']);
/** `localhost` may have an IPv6 address too. */
const localhostFirst = (name: string) => lookup(name === 'localhost' ? '127.0.0.1' : name, { all: true });
const BODY = JSON.stringify({ id: '1', type: 'node.registered', subject: 'nodes/1', data: {} });

describe('a request to a webhook', () => {
  let authority: ReceiverAuthority;
  let receiver: Receiver;
  let other: Receiver;

  before(async () => {
    authority = await ReceiverAuthority.make();
  });
  after(() => authority.remove());
  beforeEach(async () => {
    receiver = await Receiver.start(authority);
    other = await Receiver.start(authority, { host: '127.0.0.2', port: receiver.port });
  });
  afterEach(async () => {
    await receiver.close();
    await other.close();
  });

  const send = (url: string, options: Partial<PostOptions> = {}, signal = new AbortController().signal) =>
    makePost({ ca: [authority.pem], allowed: LOCAL, resolve: localhostFirst, ...options })(url, {
      ...{ headers: { 'webhook-id': 'an-id' }, body: BODY, signal },
    });
  const at =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: 4 }));

  it('goes to an address that is allowed, with its headers and its body', async () => {
    expect(await send(receiver.url())).to.deep.equal({ isDelivered: true, status: 204, error: null });
    expect(receiver.received).to.have.length(1);
    expect(receiver.received[0]?.body).to.equal(BODY);
    expect(receiver.received[0]?.headers['webhook-id']).to.equal('an-id');
  });

  it('goes nowhere if the name has an address that is not public, even beside one that may be called', async () => {
    for (const addresses of [['127.0.0.2'], ['127.0.0.1', '10.0.0.1'], ['::ffff:127.0.0.2'], ['fe80::1']])
      expect(await send(receiver.url(), { resolve: at(...addresses) }), addresses.join()).to.deep.equal({
        ...{ isDelivered: false, status: null, error: 'address_refused' },
      });
    expect(receiver.connections + other.connections).to.equal(0);
  });

  it('goes nowhere if the URL itself has such an address, however it is written', async () => {
    const port = receiver.port;
    for (const host of ['127.0.0.2', '[::1]', '2130706434', '0x7f000002', '[::ffff:127.0.0.2]', '127.2'])
      expect((await send(`https://${host}:${port}/`)).error, host).to.equal('address_refused');
    expect(receiver.connections + other.connections).to.equal(0);
  });

  it('connects to the address that was checked, whatever the name is said to be afterwards', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const resolve = async () => (answers.shift() ?? ['127.0.0.2']).map((address) => ({ address, family: 4 }));
    expect((await send(receiver.url(), { resolve })).isDelivered).to.equal(true);
    expect((await send(receiver.url(), { resolve })).error).to.equal('address_refused');
    expect(receiver.received).to.have.length(1);
    expect(other.connections).to.equal(0);
  });

  it('is sent only under a certificate of a known authority, for this name', async () => {
    const stranger = await ReceiverAuthority.make();
    expect((await send(receiver.url(), { ca: [stranger.pem] })).error).to.match(/CERT|VERIFY/);
    stranger.remove();
    expect((await send(receiver.url(), { ca: undefined })).error).to.match(/CERT|VERIFY/);
    const renamed = { resolve: at('127.0.0.1') };
    expect((await send(receiver.url('ci.example.org'), renamed)).error).to.equal(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    );
    expect(receiver.received).to.deep.equal([]);
  });

  it('does not trust anybody because the environment says so', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect((await send(receiver.url(), { ca: undefined })).error).to.match(/CERT|VERIFY/);
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
    expect(receiver.received).to.deep.equal([]);
  });

  it('uses no proxy of the environment', async () => {
    const proxy = createPlainServer().listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    let asked = 0;
    proxy.on('connection', () => {
      asked += 1;
    });
    const names = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY'];
    for (const name of names) process.env[name] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      expect((await send(receiver.url())).isDelivered).to.equal(true);
    } finally {
      for (const name of names) delete process.env[name];
      proxy.close();
    }
    expect(asked).to.equal(0);
  });

  it('follows no redirect', async () => {
    receiver.answering = (_received, response) => {
      response.writeHead(307, { Location: other.url() }).end();
      return null;
    };
    const allowed = new AddressSet(['127.0.0.1', '127.0.0.2']);
    expect(await send(receiver.url(), { allowed })).to.deep.equal({
      ...{ isDelivered: false, status: 307, error: 'status_307' },
    });
    expect(other.connections).to.equal(0);
  });

  it('does not read what is answered behind the head', async () => {
    let sent = 0;
    receiver.answering = (_received, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(64 * 1024);
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', more);
      more();
      return null;
    };
    expect((await send(receiver.url())).isDelivered).to.equal(true);
    expect(sent).to.be.below(16 * 1024 * 1024);
  });

  it('ends when the receiver does not answer in time, and when it is broken off', async () => {
    receiver.answering = () => null;
    expect(await send(receiver.url(), { patience: 300 })).to.deep.equal({
      ...{ isDelivered: false, status: null, error: 'timeout' },
    });
    expect(
      (await send(receiver.url(), { resolve: () => new Promise(() => undefined), patience: 50 })).error,
    ).to.equal('timeout');
    expect((await send(receiver.url(), {}, AbortSignal.abort())).isDelivered).to.equal(false);
  });

  it('says by a code what went wrong, and never repeats what the receiver says', async () => {
    receiver.answering = (_received, response) => {
      response.writeHead(500, 'a secret of the receiver').end('a secret');
      return null;
    };
    expect(JSON.stringify(await send(receiver.url()))).to.not.include('secret');
    const closed = receiver.url();
    await receiver.close();
    expect((await send(closed)).error).to.equal('ECONNREFUSED');
    receiver = await Receiver.start(authority);
  });
});
