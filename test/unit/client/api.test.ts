import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { Api, textOf } from '../../../src/client/api.ts';
import { Connection } from '../../../src/client/connection.ts';
import { ApiProblem, Interrupted, NotHawser, Unreachable } from '../../../src/client/errors.ts';
import { type Trust, trustByFingerprint } from '../../../src/client/trust.ts';
import { type ApiReply, type ApiRequest, type ApiServer, startApiServer } from '../../support/api-server.ts';
import { failureOf } from '../../support/failures.ts';

describe('the client of the API', () => {
  let server: ApiServer | null = null;
  let connection: Connection | null = null;
  const waits: number[] = [];

  const open = async (answer: (request: ApiRequest) => ApiReply): Promise<Api> => {
    server = await startApiServer(answer);
    connection = new Connection(new URL(server.url), { kind: 'authority', pem: server.ca });
    const sleep = async (milliseconds: number) => void waits.push(milliseconds);
    return new Api(connection, { Authorization: 'Bearer pat_1' }, { sleep });
  };

  afterEach(async () => {
    connection?.close();
    await server?.close();
    waits.length = 0;
  });

  it('fills paths and queries, and escapes both', async () => {
    const api = await open(() => ({ body: [] }));
    await api.all('/api/v1/configurations/{name}/parameter-files', {
      path: { name: 'a/b c' },
      query: { status: 'Draft', scopeValue: 'x&y' },
    });
    await api.download('/api/v1/configurations/{name}/versions/{version}/files/{filePath}', {
      path: { name: 'web', version: '1.0.0', filePath: 'site/ü.conf' },
    });
    expect(server?.seen.map(({ path }) => path)).to.deep.equal([
      '/api/v1/configurations/a%2Fb%20c/parameter-files?status=Draft&scopeValue=x%26y&take=1000&skip=0',
      '/api/v1/configurations/web/versions/1.0.0/files/site/%C3%BC.conf',
    ]);
  });

  it('follows the pages of a list, and keeps the text of all of them', async () => {
    const items = Array.from({ length: 2300 }, (_, at) => at);
    const api = await open(({ path }) => {
      const skip = Number(new URL(path, 'https://localhost').searchParams.get('skip'));
      const page = items.slice(skip, skip + 1000).map((at) => `{"id": 1234567890123456789${at}}`);
      return { headers: { 'X-Total-Count': '2300' }, body: `[ ${page.join(', ')} ]` };
    });
    const all = await api.all('/api/v1/users');
    expect(all).to.have.length(2300);
    expect(server?.seen).to.have.length(3);
    expect(textOf(all)).to.match(/^\[\{"id": 12345678901234567890\}, .*\{"id": 12345678901234567892299\}\]$/);
    let count = 0;
    for await (const _ of api.list('/api/v1/users')) count += 1;
    expect(count).to.equal(2300);
    expect(await api.allOf('/api/v1/users?x=1')).to.have.length(2300);
    expect(server?.seen.at(-1)?.path).to.equal('/api/v1/users?x=1&take=1000&skip=2000');
  });

  it('waits as a server asks for, at most a minute in all', async () => {
    const delays = ['20', '30', '20'];
    const api = await open(() => {
      const [asked] = delays.splice(0, 1);
      if (asked === undefined) return { body: {} };
      const body = { code: 'rate_limited', detail: 'Slower.' };
      return { status: 429, headers: { 'Retry-After': asked }, body };
    });
    const error = await failureOf(api.get('/api/v1/auth/me'));
    expect(error).to.be.instanceOf(ApiProblem).with.property('code', 'rate_limited');
    expect(waits).to.deep.equal([20_000, 30_000]);
    expect(await api.get('/api/v1/auth/me')).to.deep.equal({});
  });

  it('does not wait where nobody says how long', async () => {
    const api = await open(() => ({ status: 503, body: { code: 'unavailable', detail: 'Not now.' } }));
    expect(await failureOf(api.get('/api/v1/auth/me'))).to.be.instanceOf(ApiProblem);
    expect(server?.seen).to.have.length(1);
  });

  it('sends the ETag that was read before, where the API takes one, and once', async () => {
    const api = await open(() => ({ headers: { ETag: '"1"' }, body: { name: 'web' } }));
    const path = { name: 'web' };
    await api.get('/api/v1/configurations/{name}', { path });
    await api.patch('/api/v1/configurations/{name}', { path, json: { description: 'a' } });
    await api.patch('/api/v1/configurations/{name}', { path, json: { description: 'b' } });
    await api.post('/api/v1/previews', { json: { kind: 'x' } as never });
    const sent = server?.seen.map(({ headers }) => headers['if-match'] ?? null);
    expect(sent).to.deep.equal([null, '"1"', null, null]);
  });

  it('says what the server refused, with its code and its faults', async () => {
    const errors = [{ path: '/name', message: 'Too long', code: 'too_big' }];
    const body = { code: 'validation_failed', detail: 'Bad.', errors };
    const api = await open(() => ({ status: 400, body }));
    const problem = (await failureOf(api.get('/api/v1/auth/me'))) as ApiProblem;
    expect(problem).to.include({ status: 400, code: 'validation_failed', message: 'Bad.' });
    expect(problem.errors).to.deep.equal(errors);
  });

  for (const [what, reply] of Object.entries({
    'answers with a page': { headers: { 'Content-Type': 'text/html' }, body: '<html>' },
    'does not know the path': { status: 404, headers: { 'Content-Type': 'text/plain' }, body: 'no' },
    'answers with what only calls itself JSON': { body: '{"a":' },
    'sends elsewhere': {
      status: 302,
      headers: { Location: '/login', 'Content-Type': 'text/html' },
      body: 'x',
    },
  }))
    it(`names a server that ${what} in one sentence`, async () => {
      const api = await open(() => reply);
      const error = await failureOf(api.get('/api/v1/auth/me'));
      expect(error).to.be.instanceOf(NotHawser);
      expect(error.message).to.match(/ does not speak version 1 of the API of Hawser\.$/);
    });

  it('takes the answer of a proxy for a failure, and not for another server', async () => {
    const api = await open(() => ({ status: 502, headers: { 'Content-Type': 'text/html' }, body: '<h1>' }));
    expect(await failureOf(api.get('/api/v1/auth/me'))).to.include({
      name: 'ApiProblem',
      code: 'status_502',
    });
  });

  it('sends forms with names as they are', async () => {
    const api = await open(() => ({ status: 201, body: { name: 'web' } }));
    await api.post('/api/v1/configurations', {
      form: {
        fields: { name: 'web', isDraft: true, description: undefined },
        files: [{ part: 'files', filename: `it's "ü".conf`, content: Buffer.from('x') }],
      },
    });
    const [{ body = '', headers = {} } = {}] = server?.seen ?? [];
    expect(headers['content-type']).to.match(/^multipart\/form-data; boundary=hawser-/);
    expect(body).to.include('name="isDraft"\r\n\r\ntrue\r\n').and.not.include('description');
    expect(body).to.include(`name="files"; filename*=UTF-8''it%27s%20%22%C3%BC%22.conf\r\n`);
  });

  it('tells an unknown end from one before anything was sent', async () => {
    const api = await open(() => ({ headers: { 'Content-Length': '100' }, body: '{' }));
    const broken = failureOf(api.get('/api/v1/auth/me'));
    while (server?.seen.length !== 1) await new Promise((resolve) => setTimeout(resolve, 5));
    await server.close();
    expect(await broken).to.be.instanceOf(Interrupted);
    expect(await failureOf(api.get('/api/v1/auth/me'))).to.be.instanceOf(Unreachable);
  });
});

describe('the trust of the client', () => {
  let server: ApiServer;
  const fingerprintOf = (pem: string) =>
    new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase();
  const call = async (trust: Trust) => {
    const connection = new Connection(new URL(server.url), trust);
    const { status } = await connection
      .send({ method: 'GET', path: '/', headers: { Authorization: 'Bearer pat_1' } })
      .finally(() => connection.close());
    return status;
  };
  const secrets = () => server.seen.filter(({ headers }) => headers['authorization'] !== undefined);

  afterEach(() => server.close());

  it("pins the server's own certificate by its fingerprint", async () => {
    server = await startApiServer(() => ({ body: {} }));
    const trust = await trustByFingerprint(new URL(server.url), fingerprintOf(server.certificate));
    expect(trust.kind).to.equal('certificate');
    expect(await call(trust)).to.equal(200);
    const other = await startApiServer(() => ({ body: {} }));
    await server.close();
    server = other;
    expect(await failureOf(call(trust))).to.be.instanceOf(Unreachable);
    expect(secrets()).to.deep.equal([]);
  });

  it('finds the authority that the server presents', async () => {
    server = await startApiServer(() => ({ status: 404 }), true);
    const trust = await trustByFingerprint(new URL(server.url), fingerprintOf(server.ca));
    expect(trust).to.have.property('kind', 'authority');
    expect(server.seen).to.deep.equal([]);
    expect(await call(trust)).to.equal(404);
  });

  it('finds the authority that the server hands out', async () => {
    server = await startApiServer(() => ({ body: server.ca }));
    const trust = await trustByFingerprint(new URL(server.url), fingerprintOf(server.ca));
    expect(trust).to.have.property('kind', 'authority');
    expect(await call(trust)).to.equal(200);
  });

  it('does not trust a server that presents or hands out the authority of another', async () => {
    const real = await startApiServer(() => ({}));
    await real.close();
    server = await startApiServer(() => ({ body: real.ca }));
    const trust = await trustByFingerprint(new URL(server.url), fingerprintOf(real.ca));
    expect(await failureOf(call(trust))).to.be.instanceOf(Unreachable);
    expect(secrets()).to.deep.equal([]);
  });

  it('refuses a server with another fingerprint', async () => {
    server = await startApiServer(() => ({ body: server.ca }));
    const trust = trustByFingerprint(new URL(server.url), 'a'.repeat(64));
    expect(await failureOf(trust)).to.be.instanceOf(Unreachable);
  });
});
