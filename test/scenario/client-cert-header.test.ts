// full: SQLite
/** Certificates that a proxy passes on in a header: from whom, in which form, and what becomes of the rest. */

import { X509Certificate } from 'node:crypto';
import { request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { expect } from 'chai';
import { makeRequest } from '../../src/agent/certificates.ts';
import { DAY, MINUTE } from '../../src/lib/clock.ts';
import { auditedDuring } from '../support/audit.ts';
import type { Identity } from '../support/client.ts';
import { type ClientCertificate, makeClientCertificate } from '../support/client-certificates.ts';
import { createKey, type Hawser, startHawser } from '../support/hawser.ts';
import { announce } from '../support/rotation.ts';
import { started } from '../support/started.ts';
import { OpensslAuthority, Workspace } from '../unit/tls/openssl.ts';

const PROXY = '127.0.0.1';
const STRANGER = '127.0.0.2';

interface Sent {
  method?: string;
  path: string;
  /** Names and values in turn. */
  headers?: string[];
  body?: unknown;
  /** The address to connect from. */
  from?: string;
  identity?: Identity;
}

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  json: any;
}

/** Headers go out as they are given, twice where they are there twice. */
function send(
  hawser: Hawser,
  { method, path, headers = [], body, from = PROXY, identity }: Sent,
): Promise<Answered> {
  const { port, ca, isPlain } = hawser.target();
  const text = body === undefined ? '' : JSON.stringify(body);
  const length = ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(text))];
  const options = {
    ...{ host: '127.0.0.1', servername: 'localhost', port, ca, localAddress: from, path, ...identity },
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: ['Host', 'hawser.example.org', ...headers, ...(body === undefined ? [] : length)],
  };
  return new Promise((resolve, reject) => {
    (isPlain ? plainRequest : request)(options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const received = Buffer.concat(chunks).toString('utf8');
        resolve({ status: incoming.statusCode ?? 0, json: received === '' ? null : JSON.parse(received) });
      });
    })
      .on('error', reject)
      .end(text);
  });
}

const sequence = (pem: string) => `:${new X509Certificate(pem).raw.toString('base64')}:`;
const clientCert = ({ cert }: { cert: string }) => ['Client-Cert', sequence(cert)];

async function register(hawser: Hawser, fqdn: string, more: Omit<Sent, 'path'>): Promise<Answered> {
  const registrationKey = await createKey(hawser.admin);
  return send(hawser, { ...more, path: '/api/v1/nodes/register', body: { registrationKey, fqdn } });
}

/** What the log says of headers that were ignored. */
const warningsIn = (log: string): Record<string, unknown>[] =>
  log
    .split('\n')
    .filter((line) => /"level":"warn".*"reason":/.test(line))
    .map((line) => JSON.parse(line));

const configOf = (nodeId: string) => `/api/v1/nodes/${nodeId}/lcm-config`;

describe('a client certificate in a header, by plain HTTP', () => {
  const hawser = started(() => startHawser({ HAWSER_TLS: 'off', HAWSER_TRUSTED_PROXIES: PROXY }));
  let own: ClientCertificate;
  let nodeId: string;

  before(async () => {
    own = await makeClientCertificate({ commonName: 'web-01' });
    const { status, json } = await register(hawser, 'web-01.example.org', { headers: clientCert(own) });
    expect(status, JSON.stringify(json)).to.equal(200);
    nodeId = json.nodeId;
  });

  const poll = async (headers: string[], from = PROXY) =>
    (await send(hawser, { path: configOf(nodeId), headers, from })).status;
  const escapedPem = () => ['Client-Cert', encodeURIComponent(own.cert)];

  it('says where it listens', () => {
    expect(hawser.server.url).to.equal(`http://127.0.0.1:${hawser.server.port}`);
  });

  it('counts when a trusted proxy sends it as RFC 9440 has it', async () => {
    expect(await poll(clientCert(own))).to.equal(200);
    expect(await poll(['CLIENT-CERT', sequence(own.cert)])).to.equal(200);
    const other = await makeClientCertificate({ commonName: 'web-02' });
    expect(await poll(clientCert(other)), 'of nobody').to.equal(401);
    expect(warningsIn(hawser.log())).to.deep.equal([]);
  });

  it('is not there where the proxy leaves the header out or empty', async () => {
    for (const headers of [[], ['Client-Cert', ''], ['Client-Cert', '::']])
      expect(await poll(headers)).to.equal(401);
    expect(warningsIn(hawser.log())).to.deep.equal([]);
  });

  const ignored: [reason: string, what: string, headers: () => string[], from?: string][] = [
    ['not from an address in HAWSER_TRUSTED_PROXIES', 'from elsewhere', () => clientCert(own), STRANGER],
    [
      ...(['not from an address in HAWSER_TRUSTED_PROXIES', 'misspelt, from elsewhere'] as const),
      () => ['Client_Cert', sequence(own.cert)],
      STRANGER,
    ],
    ['more than once in a request', 'empty, then once', () => ['Client-Cert', '', ...clientCert(own)]],
    ['more than once in a request', 'twice', () => [...clientCert(own), ...clientCert(own)]],
    ['spelt with an underscore', 'misspelt', () => ['Client_Cert', sequence(own.cert)]],
    [
      ...(['spelt with an underscore', 'misspelt beside the right one'] as const),
      () => ['client_cert', sequence(own.cert), ...clientCert(own)],
    ],
    ['malformed', 'as escaped PEM', escapedPem],
    ['too large', 'too large', () => ['Client-Cert', `:${'A'.repeat(13_000)}:`]],
  ];
  for (const [reason, what, headers, from] of ignored) {
    it(`is ignored and warned of: ${what}`, async () => {
      hawser.clock.advance(2 * MINUTE);
      const before = hawser.log().length;
      expect(await poll(headers(), from)).to.equal(401);
      const logged = hawser.log().slice(before);
      expect(warningsIn(logged)[0]).to.include({ level: 'warn', reason, address: from ?? PROXY });
      expect(logged).not.to.include(sequence(own.cert).slice(20, 60));
    });
  }

  it('is warned of once a minute, whoever sends how many', async () => {
    hawser.clock.advance(2 * MINUTE);
    const before = hawser.log().length;
    for (let sent = 0; sent < 20; sent += 1) await poll(escapedPem());
    const warnings = () => warningsIn(hawser.log().slice(before));
    expect(warnings()).to.have.length(1);
    hawser.clock.advance(MINUTE);
    await poll(escapedPem());
    expect(warnings()).to.have.length(2);
    expect(warnings()[1]).to.include({ moreBefore: 19 });
  });

  it('may be one that the built-in authority has issued for a request', async () => {
    const { csr } = await makeRequest('asking');
    const registrationKey = await createKey(hawser.admin);
    const body = { registrationKey, fqdn: 'asking.example.org', csr };
    const { json } = await send(hawser, { path: '/api/v1/nodes/register', body });
    const headers = clientCert({ cert: json.certificate });
    expect((await send(hawser, { path: configOf(json.nodeId), headers })).status).to.equal(200);
  });

  it('stops at its end', async () => {
    const [notBefore, notAfter] = [Date.now() - DAY, Date.now() + 10 * DAY];
    const brief = await makeClientCertificate({ commonName: 'brief', notBefore, notAfter });
    const registered = await register(hawser, 'brief.example.org', { headers: clientCert(brief) });
    const path = configOf(registered.json.nodeId);
    expect((await send(hawser, { path, headers: clientCert(brief) })).status).to.equal(200);
    hawser.clock.advance(11 * DAY);
    const late = await send(hawser, { path, headers: clientCert(brief) });
    expect(late.json).to.include({ status: 401, detail: 'The certificate has expired' });
  });

  it('is changed as by TLS: the first use of an announced one ends the one before it', async () => {
    const next = await makeClientCertificate({ commonName: 'web-01', notAfter: Date.now() + 200 * DAY });
    const path = `/api/v1/nodes/${nodeId}/rotate-certificate`;
    const announced = await send(hawser, { path, headers: clientCert(own), body: announce(next) });
    expect(announced.status, JSON.stringify(announced.json)).to.equal(200);
    expect(await poll(clientCert(own))).to.equal(200);
    const forwarded = ['X-Forwarded-For', '192.0.2.1, 198.51.100.7'];
    const [entry] = await auditedDuring(hawser, async () => {
      expect(await poll([...clientCert(next), ...forwarded])).to.equal(200);
    });
    expect(entry).to.include({ action: 'node.certificate_rotated', ipAddress: '198.51.100.7' });
    expect(await poll(clientCert(own))).to.equal(401);
    own = next;
  });

  it('takes the address from X-Forwarded-For of a trusted proxy alone, and from nothing else', async () => {
    const addressBy = async (headers: string[], from: string) => {
      const body = { username: 'nobody', password: 'x'.repeat(12) };
      const attempt = () => send(hawser, { path: '/api/v1/auth/login', body, headers, from });
      return (await auditedDuring(hawser, attempt)).map(({ ipAddress }) => ipAddress);
    };
    const header = ['X-Forwarded-For', '192.0.2.1, 198.51.100.8'];
    expect(await addressBy(header, PROXY)).to.deep.equal(['198.51.100.8']);
    expect(await addressBy(header, STRANGER)).to.deep.equal([STRANGER]);
    expect(await addressBy(['Forwarded', 'for=198.51.100.9'], PROXY)).to.deep.equal([PROXY]);
  });
});

describe('a client certificate in a header, by TLS from the proxy', () => {
  const hawser = started(() => startHawser({ HAWSER_TRUSTED_PROXIES: PROXY }));

  it("counts from the proxy, whose own certificate is nobody's; others are known by theirs", async () => {
    const [proxied, direct] = [
      await makeClientCertificate({ commonName: 'proxied' }),
      await makeClientCertificate({ commonName: 'direct' }),
    ];
    const first = await register(hawser, 'proxied.example.org', { headers: clientCert(proxied) });
    const second = await register(hawser, 'direct.example.org', { identity: direct, from: STRANGER });
    expect([first.status, second.status]).to.deep.equal([200, 200]);
    const [proxiedPath, directPath] = [configOf(first.json.nodeId), configOf(second.json.nodeId)];
    const statusOf = async (sent: Sent) => (await send(hawser, sent)).status;

    // The proxy shows a certificate that happens to be a node's.
    expect(await statusOf({ path: directPath, identity: direct })).to.equal(401);
    expect(await statusOf({ path: directPath, identity: direct, headers: clientCert(proxied) })).to.equal(
      403,
    );
    expect(await statusOf({ path: proxiedPath, identity: direct, headers: clientCert(proxied) })).to.equal(
      200,
    );
    expect(warningsIn(hawser.log())).to.deep.equal([]);

    const stranger = { identity: direct, from: STRANGER, headers: clientCert(proxied) };
    expect(await statusOf({ path: directPath, ...stranger })).to.equal(200);
    expect(await statusOf({ path: proxiedPath, ...stranger })).to.equal(403);
    expect(warningsIn(hawser.log())).to.have.length(1);
    expect((await register(hawser, 'bare.example.org', { identity: direct })).json.code).to.equal(
      'client_certificate_required',
    );
  });
});

describe('a client certificate in a header, under a node CA', () => {
  let hawser: Hawser;
  let space: Workspace;
  let authority: OpensslAuthority;

  before(async () => {
    space = new Workspace();
    authority = new OpensslAuthority(space);
    authority.crl();
    hawser = await startHawser({
      HAWSER_TLS: 'off',
      HAWSER_TRUSTED_PROXIES: PROXY,
      HAWSER_NODE_CA: space.file('ca.crt'),
    });
  });
  after(async () => {
    await hawser.close();
    space.remove();
  });

  it('must chain to it, by way of what comes in Client-Cert-Chain if need be', async () => {
    const inner = space.sign('inner', 'ca', 'basicConstraints=critical,CA:true');
    const leaf = { cert: space.sign('leaf', 'inner', 'extendedKeyUsage=clientAuth') };
    const codeOf = async (headers: string[]) => {
      const { status, json } = await register(hawser, 'web-01.example.org', { headers });
      return json.code ?? status;
    };
    const self = await makeClientCertificate({ commonName: 'self' });
    expect(await codeOf(clientCert(self))).to.equal('certificate_not_trusted');
    expect(await codeOf(clientCert(leaf))).to.equal('certificate_not_trusted');
    expect(await codeOf([...clientCert(leaf), 'Client-Cert-Chain', sequence(inner)])).to.equal(200);
  });

  it('must not be on its list, from the reload of the list on', async () => {
    const folders = { HAWSER_DATA_DIR: space.file('data'), HAWSER_REPOS_DIR: space.file('repos') };
    const listed = await startHawser({
      ...folders,
      HAWSER_TLS: 'off',
      HAWSER_TRUSTED_PROXIES: PROXY,
      HAWSER_NODE_CA: space.file('ca.crt'),
      HAWSER_NODE_CRL: space.file('crl.pem'),
    });
    try {
      const [good, bad] = [authority.issue(), authority.issue()];
      const nodes = [
        await register(listed, 'good.example.org', { headers: clientCert(good) }),
        await register(listed, 'bad.example.org', { headers: clientCert(bad) }),
      ];
      const [goodPath, badPath] = nodes.map(({ json }) => configOf(json.nodeId));
      /** The status of who is let in, and the code of who is not. */
      const outcomes = async () => {
        const replies = [
          await send(listed, { path: goodPath ?? '', headers: clientCert(good) }),
          await send(listed, { path: badPath ?? '', headers: clientCert(bad) }),
        ];
        return replies.map(({ status, json }) => (status === 401 ? json.code : status));
      };
      expect(await outcomes()).to.deep.equal([200, 200]);
      authority.revoke(bad);
      authority.crl();
      await listed.server.reloadTls();
      expect(await outcomes()).to.deep.equal([200, 'certificate_revoked']);
      authority.crl('-crl_lastupdate', '20200101000000Z', '-crl_nextupdate', '20210101000000Z');
      await listed.server.reloadTls();
      expect(await outcomes()).to.deep.equal(['crl_expired', 'crl_expired']);
      listed.clock.advance(20 * DAY);
      expect(await outcomes(), 'past the end of the certificates').to.deep.equal([
        'unauthenticated',
        'unauthenticated',
      ]);
    } finally {
      await listed.close();
    }
  });
});

const base64 = ({ cert }: { cert: string }) => new X509Certificate(cert).raw.toString('base64');
const escaped = ({ cert }: { cert: string }) => encodeURIComponent(cert);

interface Product {
  header: string;
  /** The value for a client with this certificate; that of the other one stands beside it where it may. */
  of(own: ClientCertificate, other: ClientCertificate): string;
  none: string;
  bad: Record<string, string>;
  expected: string;
}

const PRODUCTS: Product[] = [
  {
    header: 'X-ARR-ClientCert',
    of: base64,
    none: '',
    bad: { malformed: 'bm90IGEgY2VydA==' },
    expected: 'as IIS and Azure send it',
  },
  {
    header: 'X-Forwarded-Tls-Client-Cert',
    of: (own, other) => `${encodeURIComponent(base64(own))},${base64(other)}`,
    none: '',
    bad: { malformed: '%' },
    expected: 'as Traefik sends it',
  },
  {
    header: 'X-Forwarded-Client-Cert',
    of: (own, other) =>
      `By=a;Cert="${escaped(other)}",By=b;Subject="O=\\"b;c\\"";Cert="${escaped(own)}";URI=`,
    none: '',
    bad: { malformed: 'Cert="nothing"', 'without a certificate': 'By=spiffe://a;Hash=00' },
    expected: 'as Envoy sends it',
  },
  {
    header: 'X-SSL-Client-Cert',
    of: ({ cert }) => cert.trim().replaceAll('\n', ' '),
    none: '(null)',
    bad: { malformed: '-----BEGIN CERTIFICATE----- nothing -----END CERTIFICATE-----' },
    expected: 'in PEM, URL-encoded or in one line',
  },
];

for (const { header, of, none, bad, expected } of PRODUCTS) {
  describe(`a client certificate in ${header}`, () => {
    const hawser = started(() =>
      startHawser({
        HAWSER_TLS: 'off',
        HAWSER_TRUSTED_PROXIES: PROXY,
        // The case of the name does not matter.
        HAWSER_CLIENT_CERT_HEADER: header.toUpperCase(),
      }),
    );
    let own: ClientCertificate;
    let other: ClientCertificate;
    let path: string;

    before(async () => {
      own = await makeClientCertificate({ commonName: 'web-01', rsa: true });
      other = await makeClientCertificate({ commonName: 'web-02' });
      const { status, json } = await register(hawser, 'web-01.example.org', {
        headers: [header, of(own, other)],
      });
      expect(status, JSON.stringify(json)).to.equal(200);
      path = configOf(json.nodeId);
    });

    it('says which node it is, and no other header does', async () => {
      const statusOf = async (...headers: string[]) => (await send(hawser, { path, headers })).status;
      expect(await statusOf(header, of(own, other))).to.equal(200);
      expect(await statusOf(header, of(other, own)), 'of nobody').to.equal(401);
      expect(await statusOf(...clientCert(own))).to.equal(401);
      expect(await statusOf(header, none)).to.equal(401);
      expect(await statusOf()).to.equal(401);
      expect(warningsIn(hawser.log())).to.deep.equal([]);
      const forged = await send(hawser, { path, headers: [header, of(own, other)], from: STRANGER });
      expect(forged.status).to.equal(401);
    });

    it('counts as none where it cannot be read, and the log says what was expected', async () => {
      for (const [reason, value] of Object.entries(bad)) {
        const before = hawser.log().length;
        const reply = await send(hawser, { path, headers: [header, value] });
        const bare = await send(hawser, { path });
        expect([reply.status, reply.json.detail]).to.deep.equal([401, bare.json.detail]);
        const [warning, ...more] = warningsIn(hawser.log().slice(before));
        expect(more).to.deep.equal([]);
        expect(warning).to.include({ header: header.toLowerCase(), reason, address: PROXY });
        expect(warning?.['expected']).to.include(expected);
        expect(hawser.log().slice(before)).not.to.include(value === '%' ? '"%"' : value.slice(-20));
      }
      const registered = await register(hawser, 'bare.example.org', {
        headers: [header, Object.values(bad)[0] ?? ''],
      });
      expect(registered.json.code).to.equal('client_certificate_required');
    });
  });
}
