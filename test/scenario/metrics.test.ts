// full: SQLite, PostgreSQL
import { X509Certificate } from 'node:crypto';
import { rmSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { DAY, MINUTE } from '../../src/lib/clock.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { gitClient } from '../support/git-client.ts';
import {
  createKey,
  createToken,
  type NodeUnderTest,
  publishConfiguration,
  startHawser,
} from '../support/hawser.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { type Families, readMetrics, sumOf } from '../support/prometheus.ts';
import { ok } from '../support/replies.ts';
import { nodeInRing, prepareRings, rollOut } from '../support/rollouts.ts';
import { started } from '../support/started.ts';
import { prepareWebhook } from '../support/webhooks.ts';

const TOKEN = 'the-token-that-opens-the-metrics';
const REPORT = { operation: 'Test', result: { hadErrors: false } };
const POLL = '/api/v1/nodes/{nodeId}/configuration/checksum';

describe('the token of the metrics', () => {
  const hawser = started(() => startHawser({ HAWSER_METRICS_TOKEN: TOKEN }));

  const ask = (authorization: string) => hawser.client().get('/metrics', { Authorization: authorization });

  it('opens them, and HEAD gives the same headers', async () => {
    const reply = await ask(`Bearer ${TOKEN}`);
    expect(reply.status).to.equal(200);
    expect(reply.headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
    expect(reply.headers['cache-control']).to.equal('no-store');
    const head = await hawser
      .client()
      .call('HEAD', '/metrics', { headers: { Authorization: `Bearer ${TOKEN}` } });
    expect(head.status).to.equal(200);
    expect(head.text).to.equal('');
    expect(head.headers['content-type']).to.equal(reply.headers['content-type']);
  });

  it('opens them to the Accept header that Prometheus sends', async () => {
    const accept =
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,' +
      'text/plain;version=0.0.4;q=0.3,*/*;q=0.2';
    const headers = { Authorization: `Bearer ${TOKEN}`, Accept: accept };
    await ok(200, hawser.client().get('/metrics', headers));
  });

  it('is asked for with a challenge where it is missing or another one', async () => {
    const refused = [
      'Bearer another-token-of-some-length',
      `Bearer ${TOKEN}x`,
      `Basic ${btoa(`a:${TOKEN}`)}`,
    ];
    const replies = [await hawser.client().get('/metrics'), ...(await Promise.all(refused.map(ask)))];
    for (const reply of replies) {
      expect(reply.status).to.equal(401);
      expect(reply.headers['www-authenticate']).to.equal('Bearer realm="hawser"');
      expect(reply.json.code).to.equal('unauthenticated');
    }
  });

  it('opens nothing else', async () => {
    const client = hawser.client().with({ Authorization: `Bearer ${TOKEN}` });
    expect((await client.get('/api/v1/nodes')).status).to.equal(401);
  });

  it('never stands in the log', async () => {
    await ask(`Bearer ${TOKEN}`);
    expect(hawser.log()).to.include('/metrics');
    expect(hawser.log()).to.not.include(TOKEN);
  });

  it('is needed for there to be anything at all', async () => {
    const without = await startHawser();
    try {
      for (const authorization of [`Bearer ${TOKEN}`, 'Bearer null', 'Bearer undefined']) {
        const reply = await without.client().get('/metrics', { Authorization: authorization });
        expect(reply.status).to.equal(404);
      }
      expect((await without.client().get('/metrics')).status).to.equal(404);
      expect((await without.admin.get('/metrics')).status).to.equal(404);
    } finally {
      await without.close();
    }
  });
});

describe('the metrics', () => {
  const hawser = started(() => startHawser({ HAWSER_METRICS_TOKEN: TOKEN }));
  let node: NodeUnderTest;

  before(async () => {
    node = await hawser.registerNode('web-01.example.org');
    await publishConfiguration(hawser.admin, 'shop-frontend', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\nparameters: {}' },
    });
    await hawser.admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, {
      configurationName: 'shop-frontend',
    });
  });

  const scrape = () => readMetrics(hawser, TOKEN);
  const textOfMetrics = async () =>
    (await hawser.client().get('/metrics', { Authorization: `Bearer ${TOKEN}` })).text;

  /** By how much a value rises while something happens. */
  async function rise(
    work: () => Promise<unknown>,
    ...wanted: [name: string, labels?: Record<string, string>][]
  ): Promise<number[]> {
    const before = await scrape();
    await work();
    const after = await scrape();
    return wanted.map(([name, labels]) => sumOf(after, name, labels) - sumOf(before, name, labels));
  }

  const poll = (headers: Record<string, string> = {}) =>
    node.client.get(`/api/v1/nodes/${node.nodeId}/configuration/checksum`, headers);
  const report = () => node.client.post(`/api/v1/nodes/${node.nodeId}/reports`, REPORT);

  it('count polls by what they are answered with, and time them by the template of their route', async () => {
    let etag = '';
    const first = await rise(
      async () => {
        etag = String((await poll()).headers['etag']);
      },
      ['hawser_polls_total', { result: '200' }],
      ['hawser_polls_total', { result: '304' }],
    );
    expect(first).to.deep.equal([1, 0]);
    const second = await rise(
      () => poll({ 'If-None-Match': etag }),
      ['hawser_polls_total', { result: '200' }],
      ['hawser_polls_total', { result: '304' }],
      ['hawser_http_request_duration_seconds_count', { route: POLL, method: 'GET', status: '3xx' }],
    );
    expect(second).to.deep.equal([0, 1, 1]);
    const stranger = await rise(
      () => hawser.client().get(`/api/v1/nodes/${node.nodeId}/configuration/checksum`),
      ['hawser_polls_total', { result: '401' }],
      ['hawser_problems_total', { code: 'unauthenticated' }],
    );
    expect(stranger).to.deep.equal([1, 1]);
  });

  it('count what finds no route as none, whatever its path and method', async () => {
    const none = { route: 'none', method: 'none', status: '4xx' };
    const counted = await rise(
      async () => {
        await hawser.client().get('/a-path-of-my-own-making');
        await hawser.client().call('PATCH', '/another-one');
      },
      ['hawser_http_request_duration_seconds_count', none],
      ['hawser_problems_total', { code: 'not_found' }],
    );
    expect(counted).to.deep.equal([2, 2]);
    expect(await textOfMetrics()).to.not.include('of-my-own-making');
  });

  it('count each problem once that is answered before a request is routed, or to what never became one', async () => {
    const socketTo = () => {
      const socket = connect({ host: '127.0.0.1', port: hawser.server.port, rejectUnauthorized: false });
      return socket.on('error', () => undefined);
    };
    const tell = async (socket: Socket, text: string) => {
      socket.on('error', () => undefined).write(text);
      let answer = '';
      for await (const chunk of socket) answer += chunk;
      return JSON.parse(answer.split('\r\n\r\n')[1] ?? '').code;
    };
    const codes: string[] = [];
    const [malformed, tooLarge, notAllowed, plain, all] = await rise(
      async () => {
        codes.push(await tell(socketTo(), 'HELO there\r\n\r\n'));
        codes.push(await tell(socketTo(), 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'));
        // The route waits for the rest of the body, and then finds out that it was cut off.
        const head = 'POST /api/v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
        codes.push(await tell(socketTo(), `${head}Transfer-Encoding: chunked\r\n\r\nzzz\r\n`));
        await eventually(async () => expect(hawser.log()).to.include('"code":"malformed_body"'));
        const long = `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`;
        codes.push(await tell(socketTo(), long));
        codes.push(await tell(socketTo(), 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'));
        codes.push((await hawser.client().post('/health')).json.code);
        codes.push(await tell(connectPlain(hawser.server.port, '127.0.0.1'), 'GET / HTTP/1.1\r\n\r\n'));
      },
      ['hawser_problems_total', { code: 'malformed_request' }],
      ['hawser_problems_total', { code: 'header_too_large' }],
      ['hawser_problems_total', { code: 'method_not_allowed' }],
      ['hawser_problems_total', { code: 'https_required' }],
      ['hawser_problems_total'],
    );
    const malformedCodes = ['malformed_request', 'malformed_request', 'malformed_request'];
    const others = ['header_too_large', 'method_not_allowed', 'method_not_allowed', 'https_required'];
    expect(codes).to.deep.equal([...malformedCodes, ...others]);
    expect([malformed, tooLarge, notAllowed, plain, all]).to.deep.equal([3, 1, 2, 1, 7]);
  });

  it('have as many requests in flight as there are: the scrape itself', async () => {
    expect(sumOf(await scrape(), 'hawser_http_requests_in_flight')).to.equal(1);
  });

  it('count a bundle that is built, and that it is there for the next one who asks', async () => {
    const path = `/api/v1/nodes/${node.nodeId}/configuration/bundle`;
    const [builds, bytes = 0, misses] = await rise(
      () => node.client.get(path),
      ['hawser_bundle_build_duration_seconds_count'],
      ['hawser_bundle_build_bytes_total'],
      ['hawser_cache_misses_total', { cache: 'bundles' }],
    );
    expect([builds, misses]).to.deep.equal([1, 1]);
    expect(bytes).to.be.greaterThan(100);
    const again = await rise(
      () => node.client.get(path),
      ['hawser_bundle_build_duration_seconds_count'],
      ['hawser_cache_hits_total', { cache: 'bundles' }],
    );
    expect(again).to.deep.equal([0, 1]);
    expect(sumOf(await scrape(), 'hawser_cache_bytes', { cache: 'bundles' })).to.be.at.least(bytes);
    expect(sumOf(await scrape(), 'hawser_manifests_remembered')).to.equal(1);
  });

  it('count registrations, and refusals by their reason', async () => {
    const identity = await makeClientCertificate({ commonName: 'web-02.example.org' });
    const client = hawser.client(identity);
    const register = (registrationKey: string) =>
      client.post('/api/v1/nodes/register', { registrationKey, fqdn: 'web-02.example.org' });
    const key = await createKey(hawser.admin, { maxUses: 1 });
    const counted = await rise(
      async () => {
        expect((await register('not-a-key-of-this-server')).status).to.equal(403);
        await ok(200, register(key));
      },
      ['hawser_registrations_total', { outcome: 'registration_key_unknown' }],
      ['hawser_registrations_total', { outcome: 'registered' }],
      ['hawser_nodes', { status: 'Unknown' }],
    );
    expect(counted).to.deep.equal([1, 1, 1]);
  });

  it('count sign-ins by outcome', async () => {
    const signIn = (username: string) =>
      hawser.client().post('/api/v1/auth/login', { username, password: 'not the password' });
    const counted = await rise(
      async () => {
        await signIn('admin');
        await signIn('somebody-unheard-of');
      },
      ['hawser_sign_ins_total', { outcome: 'wrong_password' }],
      ['hawser_sign_ins_total', { outcome: 'unknown_user' }],
    );
    expect(counted).to.deep.equal([1, 1]);
  });

  it('count what is refused as a flood, by the route that is flooded', async () => {
    const flood = await hawser.registerNode('flood.example.org');
    const path = `/api/v1/nodes/${flood.nodeId}/reports`;
    let refused = 0;
    const counted = await rise(
      async () => {
        const replies = await Promise.all(Array.from({ length: 140 }, () => flood.client.post(path, REPORT)));
        refused = replies.filter(({ status }) => status === 429).length;
      },
      ['hawser_rate_limited_total', { route: '/api/v1/nodes/{nodeId}/reports' }],
      ['hawser_problems_total', { code: 'rate_limited' }],
    );
    expect(refused).to.be.greaterThan(0);
    expect(counted).to.deep.equal([refused, refused]);
  });

  it('tell how many reports shared a commit, and that writes are waited for', async () => {
    const [commits = 0, reports, writes] = await rise(
      () => Promise.all(Array.from({ length: 20 }, report)),
      ['hawser_group_commit_size_count'],
      ['hawser_group_commit_size_sum'],
      ['hawser_database_write_wait_seconds_count'],
    );
    expect(reports).to.equal(20);
    expect(commits).to.be.within(1, 20);
    expect(writes).to.be.at.least(commits);
  });

  it('count what is done to repositories, and the merges of parameters that a poll needs', async () => {
    const counted = await rise(
      () => publishConfiguration(hawser.admin, 'shop-backend', { '1.0.0': { 'main.dsc.yaml': 'a: 1' } }),
      ['hawser_git_operation_duration_seconds_count', { operation: 'create' }],
      ['hawser_git_operation_duration_seconds_count', { operation: 'publish' }],
      ['hawser_git_operation_failures_total'],
    );
    expect(counted).to.deep.equal([1, 1, 0]);
    const refused = await rise(
      () => hawser.admin.put('/api/v1/configurations/shop-backend/versions/1.0.0/publish'),
      ['hawser_git_operation_failures_total'],
    );
    expect(refused).to.deep.equal([0]);
    const merged = await rise(
      async () => {
        await saveParameters(hawser, { configuration: 'shop-frontend', content: 'parameters: {}' });
        await ok(200, poll());
      },
      ['hawser_merge_duration_seconds_count'],
      ['hawser_resolution_duration_seconds_count'],
      ['hawser_generation'],
    );
    expect(merged.slice(0, 2)).to.deep.equal([1, 1]);
    expect(merged[2]).to.be.greaterThan(0);
  });

  it('count a clone by stock git as a fetch', async () => {
    const git = gitClient(hawser);
    try {
      const token = await createToken(hawser.client(), hawser.session, ['configurations.grants']);
      const before = sumOf(await scrape(), 'hawser_git_operation_duration_seconds_count', {
        operation: 'fetch',
      });
      const { code, output } = await git.run(
        ...['clone', '-q', git.url('configurations/shop-frontend', token), 'clone'],
      );
      expect(`${code} ${output}`).to.equal('0 ');
      await eventually(async () => {
        const now = await scrape();
        expect(
          sumOf(now, 'hawser_git_operation_duration_seconds_count', { operation: 'fetch' }),
        ).to.be.greaterThan(before);
        expect(sumOf(now, 'hawser_git_processes')).to.equal(0);
      });
    } finally {
      git.close();
    }
  });

  itOnSqlite('count a repository that is gone as a fault', async () => {
    await publishConfiguration(hawser.admin, 'gone', { '1.0.0': { 'main.dsc.yaml': 'a: 1' } });
    rmSync(join(hawser.reposDir, 'configurations/gone.git'), { recursive: true });
    await eventually(async () => {
      await hawser.admin.get('/api/v1/configurations/gone/versions');
      expect(sumOf(await scrape(), 'hawser_repository_problems')).to.equal(1);
    });
  });

  itOnSqlite('count a wrong tag of a colleague apart from what is damaged', async () => {
    await publishConfiguration(hawser.admin, 'tagged', { '1.0.0': { 'main.dsc.yaml': 'a: 1' } });
    const before = sumOf(await scrape(), 'hawser_repository_problems');
    const blob = hawser.git('configurations/tagged.git', 'rev-parse', 'v1.0.0:main.dsc.yaml').trim();
    const person = ['-c', 'user.name=Carol', '-c', 'user.email=carol@example.org'];
    hawser.git('configurations/tagged.git', ...person, 'tag', '-a', 'v2.0.0', '-m', 'of a blob', blob);
    await eventually(async () => {
      const now = await scrape();
      expect(sumOf(now, 'hawser_ref_problems')).to.equal(1);
      expect(sumOf(now, 'hawser_repository_problems')).to.equal(before);
    });
    const { checks } = (await hawser.client().get('/health/ready')).json;
    expect(checks.repositories).to.include('configurations/tagged refs/tags/v2.0.0 (no version: ');
  });

  it('count stale nodes and certificates by days left, at most once a minute', async () => {
    const fresh = await startHawser({ HAWSER_METRICS_TOKEN: TOKEN });
    try {
      const read = () => readMetrics(fresh, TOKEN);
      const away = await fresh.registerNode('web-01.example.org');
      const reported = { configurationMode: 'Monitor', configurationModeInterval: 'PT15M' };
      const path = `/api/v1/nodes/${away.nodeId}`;
      expect((await away.client.put(`${path}/reported-config`, reported)).status).to.be.oneOf([200, 204]);
      await eventually(async () => {
        expect((await fresh.admin.get(path)).json.lastCheckIn).to.be.a('string');
      });
      const first = await read();
      expect(sumOf(first, 'hawser_nodes_stale')).to.equal(0);
      const terms = ['expired', 'under_7', 'under_30', 'under_90', 'more'];
      const certificates = (families: Families) =>
        terms.map((days_left) => sumOf(families, 'hawser_node_certificates', { days_left }));
      expect(certificates(first)).to.deep.equal([0, 0, 0, 1, 0]);
      fresh.clock.advance(MINUTE / 2);
      await fresh.registerNode('web-02.example.org');
      expect(certificates(await read())).to.deep.equal([0, 0, 0, 1, 0]);
      fresh.clock.advance(70 * DAY);
      const later = await read();
      expect(certificates(later)).to.deep.equal([0, 0, 2, 0, 0]);
      expect(sumOf(later, 'hawser_nodes_stale')).to.equal(1);
      fresh.clock.advance(20 * DAY);
      expect(certificates(await read())).to.deep.equal([2, 0, 0, 0, 0]);
    } finally {
      await fresh.close();
    }
  });

  it('tell when the certificates of the server end', async () => {
    const authority = new X509Certificate(hawser.target().ca);
    const families = await scrape();
    const name = 'hawser_tls_certificate_expiry_timestamp_seconds';
    expect(sumOf(families, name, { certificate: 'authority' }) * 1_000).to.equal(
      Date.parse(authority.validTo),
    );
    expect(sumOf(families, name, { certificate: 'server' })).to.be.greaterThan(Date.now() / 1_000);
  });

  it('tell of the last cleanup of a type', async () => {
    const cleanup = await hawser.admin.post('/api/v1/retention/reports/cleanup', { dryRun: false });
    expect(cleanup.status, cleanup.text).to.equal(200);
    const families = await scrape();
    const labels = { version_type: 'Report' };
    expect(sumOf(families, 'hawser_retention_last_run_timestamp_seconds', labels)).to.be.greaterThan(0);
    expect(sumOf(families, 'hawser_retention_last_run_failed', labels)).to.equal(0);
  });

  it('tell how deliveries to webhooks end, and how long the evaluation of a rollout takes', async () => {
    await prepareWebhook(hawser.admin);
    const { canary } = await prepareRings(hawser);
    await publishConfiguration(hawser.admin, 'ringed', { '1.0.0': { [MAIN]: '{}' } });
    await nodeInRing(hawser, canary, 'ringed');
    const files = { files: { [MAIN]: '{} # 1.1.0' } };
    await ok(201, addVersion(hawser.admin, 'ringed', { version: '1.1.0' }, files));
    await ok(201, rollOut(hawser.admin, 'ringed', '1.1.0'));
    await eventually(async () => {
      const families = await scrape();
      // Nobody listens at the address of the webhook.
      const attempts = sumOf(families, 'hawser_webhook_attempts_total', { outcome: 'pending' });
      expect(attempts).to.be.greaterThan(0);
      const evaluations = 'hawser_rollout_evaluation_duration_seconds_count';
      expect(sumOf(families, evaluations, { outcome: 'evaluated' })).to.be.greaterThan(0);
    }, 30_000);
  });

  it('hold what Node tells of the process, and which version runs', async () => {
    const families = await scrape();
    for (const name of [
      'process_cpu_seconds_total',
      'process_start_time_seconds',
      'nodejs_eventloop_lag_p99_seconds',
    ])
      expect(families.get(name)?.samples, name).to.not.have.length(0);
    expect(sumOf(families, 'hawser_build_info')).to.equal(1);
  });

  it('name no node and no configuration, and hold no id and no address', async () => {
    const text = await textOfMetrics();
    for (const name of ['shop-frontend', 'shop-backend', 'example.org', 'web-01', 'admin@', '127.0.0.1'])
      expect(text).to.not.include(name);
    expect(text).to.not.match(/[0-9a-f]{8}-[0-9a-f]{4}-/i);
    expect(text).to.not.match(/[0-9a-f]{40}/i);
  });
});
