// full: SQLite
import { once } from 'node:events';
import { expect } from 'chai';
import type { Route } from '../../src/http/route.ts';
import { type AccessWorld, startAccessWorld } from '../support/access-world.ts';
import type { Reply } from '../support/client.ts';
import type { Hawser, NodeUnderTest } from '../support/hawser.ts';
import { exchange, openSocket, statusesOf } from '../support/raw-tls.ts';
import { etagOf, ok } from '../support/replies.ts';
import { addressOf, declaredRoutes, isPlainGet, neededQuery } from '../support/routes.ts';

const KEYS = '/api/v1/admin/registration-keys';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('the conventions of the interface', () => {
  let hawser: Hawser;
  let routes: Route[];
  let node: NodeUnderTest;
  let world: AccessWorld;
  /**
   * Those of git clients and the metrics answer in forms and to callers of their own, and some lead elsewhere. All of them
   * have tests of their own.
   */
  const gets = () => routes.filter(isPlainGet);

  before(async () => {
    routes = await declaredRoutes();
    world = await startAccessWorld();
    ({ hawser, node } = world);
  });
  after(() => world.close());

  const expectProblem = (reply: Reply, status: number, code: string, name = '') => {
    expect(reply.status, name).to.equal(status);
    expect(reply.headers['content-type'], name).to.equal('application/problem+json; charset=utf-8');
    expect(reply.json, name).to.include({ type: 'about:blank', status, code });
    expect(reply.json.title, name).to.be.a('string').and.not.equal('');
    expect(reply.json.detail, name).to.be.a('string').and.not.equal('');
    expect(reply.headers['x-request-id'], name).to.be.a('string');
    expect(reply.text, name).to.not.match(/\bat .+:\d+|node_modules|\/src\/|\.ts\b|SQLITE|Zod|\/tmp\//);
  };

  const expectNoJson = (reply: Reply, name = '') => {
    expectProblem(reply, 400, 'validation_failed', name);
    const { detail: message } = reply.json;
    expect(reply.json.errors, name).to.deep.equal([{ path: '', message, code: 'malformed_json' }]);
  };

  describe('on methods', () => {
    it('answer GET with and without a trailing slash alike', async () => {
      for (const route of gets()) {
        const path = addressOf(route, world.valuesOf(route));
        const query = neededQuery(route);
        const paths = [`${path}${query}`, `${path}/${query}`] as const;
        const [plain, slashed] = await Promise.all([hawser.admin.get(paths[0]), hawser.admin.get(paths[1])]);
        expect(plain.status, path).to.equal(200);
        expect(slashed.status, path).to.equal(200);
        expect(slashed.headers['etag'], path).to.equal(plain.headers['etag']);
        expect(slashed.bytes.length, path).to.equal(plain.bytes.length);
      }
    });

    it('answer 404 to a slash too many, and say that the server URL of the client ends in one', async () => {
      for (const [method, path] of [
        ['GET', '//api/v1/settings/public'],
        ['POST', '//api/v1/nodes/register'],
        ['GET', '//health/'],
        ['GET', '///api/v1/settings/public?x=1'],
      ] as const) {
        const reply = await hawser.client().call(method, path);
        expectProblem(reply, 404, 'not_found', path);
        expect(reply.json.detail, path).to.match(/server URL .*ends in a slash/);
      }
      for (const path of ['/api/v2/settings/public', '/api//v1/settings/public', '/x']) {
        const reply = await hawser.admin.get(path);
        expectProblem(reply, 404, 'not_found', path);
        expect(reply.json.detail, path).to.not.match(/slash/);
      }
    });

    it('answer HEAD as GET, without the body', async () => {
      for (const route of gets()) {
        const path = addressOf(route, world.valuesOf(route));
        const get = await hawser.admin.get(path);
        const head = await hawser.admin.call('HEAD', path);
        expect(head.status, path).to.equal(get.status);
        expect(head.bytes.length, path).to.equal(0);
        for (const name of ['content-type', 'content-length', 'etag', 'x-total-count', 'cache-control']) {
          expect(head.headers[name], `${name} of ${path}`).to.equal(get.headers[name]);
        }
      }
      const missing = await hawser.admin.call('HEAD', '/api/v1/configurations/none');
      expect(missing.status).to.equal(404);
      expect(missing.bytes.length).to.equal(0);
    });

    it('tell in Allow what a path answers to, to OPTIONS and with 405', async () => {
      const nobody = hawser.client();
      for (const path of new Set(routes.map((route) => addressOf(route, world.valuesOf(route))))) {
        const options = await nobody.call('OPTIONS', path);
        expect(options.status, path).to.equal(204);
        expect(options.text).to.equal('');
        const allow = String(options.headers['allow']).split(', ');
        const declared = routes.filter((route) => addressOf(route, world.valuesOf(route)) === path);
        expect(allow, path).to.include.members(declared.map((route) => route.method));
        expect(allow, path).to.include('OPTIONS');
        expect(allow.includes('HEAD'), path).to.equal(allow.includes('GET'));
        const wrong = ['PATCH', 'DELETE', 'POST', 'PROPFIND'].find((method) => !allow.includes(method)) ?? '';
        const refused = await hawser.admin.call(wrong, path);
        expectProblem(refused, 405, 'method_not_allowed', `${wrong} ${path}`);
        expect(refused.headers['allow'], path).to.equal(options.headers['allow']);
      }
    });
  });

  describe('on paths', () => {
    it('answer 404 for what is not there, to anybody', async () => {
      for (const path of ['/api', '/api/v1', '/api/v2/nodes', '/API/V1/NODES', '/api/v1/Nodes', '/.env']) {
        for (const method of ['GET', 'POST', 'OPTIONS']) {
          expectProblem(await hawser.client().call(method, path), 404, 'not_found', `${method} ${path}`);
        }
      }
    });

    it('are not fooled by dots, escapes, doubled slashes or length', async () => {
      const configuration = '/api/v1/configurations';
      const files = `${configuration}/web/versions/1.0.0/files`;
      const tricks = [
        ...['..', '.', '%2e%2e', '%2E%2e', '%252e%252e', '%252f', '%2f', '%5c', '%00', 'web%00', '%zz', '%'],
        ...['%C3%28', '%ff', 'web%20', 'web.', 'WEB', 'web;x=1', '*', "'%20or%201=1--", 'x'.repeat(12_000)],
      ].map((name) => `${configuration}/${name}`);
      const escapes = [
        ...['../main.dsc.yaml', '%2e%2e/main.dsc.yaml', '..%2fmain.dsc.yaml', '%2fetc%2fpasswd', '..%5cx'],
        ...['%00', 'main.dsc.yaml%00', './main.dsc.yaml', '%zz', '%ff', '', '/', '../../../../../etc/passwd'],
      ].map((path) => `${files}/${path}`);
      const doubled = ['//api/v1/configurations', '/api//v1/configurations', '/api/v1/configurations//'];
      const climbing = ['/health/../api/v1/configurations', '/health/%2e%2e/health', '/api/v1/nodes/%zz'];
      for (const path of [...tricks, ...escapes, ...doubled, ...climbing]) {
        expectProblem(await hawser.admin.get(path), 404, 'not_found', path.slice(0, 80));
      }
    });

    it('answer 404 for an id that is not a UUID in lower case', async () => {
      const upper = node.nodeId.toUpperCase();
      for (const id of ['1', 'null', upper, `{${node.nodeId}}`, `${node.nodeId}0`]) {
        expectProblem(await hawser.admin.get(`/api/v1/nodes/${id}`), 404, 'not_found', id);
      }
    });

    it('answer 431 to a header, or an address, that is too large', async () => {
      const header = await hawser.client().get('/health', { 'X-Large': 'x'.repeat(20_000) });
      expectProblem(header, 431, 'header_too_large');
      const address = await hawser.client().get(`/${'x'.repeat(20_000)}`);
      expectProblem(address, 431, 'header_too_large');
    });
  });

  describe('on request ids', () => {
    it('give every answer one, whatever it is', async () => {
      const web = '/api/v1/configurations/web';
      const etag = await etagOf(hawser.admin, web);
      const answers = await Promise.all([
        hawser.client().get('/health'),
        hawser.admin.get(web, { 'If-None-Match': etag }),
        hawser.admin.get(web, { Accept: 'text/html' }),
        hawser.client().get(web),
        hawser.client().get('/nowhere'),
        hawser.client().call('OPTIONS', web),
        hawser.client().call('PATCH', '/health'),
        hawser.client().post('/api/v1/auth/login', {}),
      ]);
      expect(answers.map((reply) => reply.status)).to.deep.equal([200, 304, 406, 401, 404, 204, 405, 400]);
      const ids = answers.map((reply) => reply.headers['x-request-id']);
      for (const id of ids) expect(id).to.match(UUID);
      expect(new Set(ids).size).to.equal(ids.length);
    });

    it('keep one that the caller gives, if it is harmless', async () => {
      for (const id of ['deploy-42', 'a', 'A.b_c-D', 'x'.repeat(64)]) {
        expect(
          (await hawser.client().get('/health', { 'X-Request-Id': id })).headers['x-request-id'],
        ).to.equal(id);
        expect((await hawser.client().get('/none', { 'X-Request-Id': id })).headers['x-request-id']).to.equal(
          id,
        );
      }
      expect(hawser.log()).to.include('"requestId":"deploy-42"');
      for (const id of ['', 'a b', 'x'.repeat(65), '<script>', '{"level":"error"}', 'ä', 'a,b', '../x']) {
        const reply = await hawser.client().get('/health', { 'X-Request-Id': id });
        expect(reply.headers['x-request-id'], id).to.match(UUID);
      }
    });
  });

  describe('on lists', () => {
    it('give a page of at most a thousand, and say how many there are', async () => {
      await Promise.all([1, 2, 3].map((n) => hawser.registerNode(`list-${n}.example.org`)));
      const first = await hawser.admin.get('/api/v1/nodes?fqdn=LIST%2D&take=2&stale=False');
      expect(first.json.map((entry: { fqdn: string }) => entry.fqdn)).to.deep.equal([
        ...['list-1.example.org', 'list-2.example.org'],
      ]);
      expect(first.headers['x-total-count']).to.equal('3');
      const link = /^<([^>]+)>; rel="next"$/.exec(String(first.headers['link']))?.[1] ?? '';
      const next = new URL(link, 'https://localhost');
      expect(Object.fromEntries(next.searchParams)).to.deep.equal({
        ...{ fqdn: 'LIST-', take: '2', skip: '2', stale: 'False' },
      });
      const second = await hawser.admin.get(next.pathname + next.search);
      expect(second.json.map((entry: { fqdn: string }) => entry.fqdn)).to.deep.equal(['list-3.example.org']);
      expect(second.headers['x-total-count']).to.equal('3');
      expect(second.headers).to.not.have.property('link');
      const exact = await hawser.admin.get('/api/v1/nodes?fqdn=list-&take=3');
      expect(exact.headers, 'nothing follows').to.not.have.property('link');
      const beyond = await hawser.admin.get('/api/v1/nodes?fqdn=list-&skip=1000');
      expect(beyond.json).to.deep.equal([]);
      expect(beyond.headers['x-total-count']).to.equal('3');
    });
  });

  describe('on validators', () => {
    it('give every thing and every page of a list an ETag, and answer 304 to who knows it', async () => {
      for (const route of gets()) {
        const path = addressOf(route, world.valuesOf(route)) + neededQuery(route);
        const reply = await hawser.admin.get(path);
        if (/^\/(?:health|login)/.test(path)) {
          expect(reply.headers, path).to.not.have.property('etag');
          continue;
        }
        const etag = String(reply.headers['etag']);
        expect(etag, path).to.match(/^"[\x21\x23-\x7e]+"$/);
        for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
          const again = await hawser.admin.get(path, { 'If-None-Match': known });
          expect(again.status, `${path} ${known}`).to.equal(304);
          expect(again.bytes.length).to.equal(0);
          expect(again.headers['etag'], `${path} ${known}`).to.equal(etag);
          expect(again.headers['x-request-id']).to.match(UUID);
        }
        for (const unknown of ['"other"', etag.slice(1, -1), `"${etag.slice(1, -2)}"`, '']) {
          const again = await hawser.admin.get(path, { 'If-None-Match': unknown });
          expect(again.status, `${path} ${unknown}`).to.equal(200);
        }
      }
    });

    it('let * through where there is no single thing to read', async () => {
      const key = await hawser.admin.post(KEYS, {});
      const path = `${KEYS}/${key.json.id}`;
      const call = (method: string, headers: Record<string, string>) =>
        hawser.admin.call(
          method,
          path,
          method === 'PUT' ? { json: { description: 'x' }, headers } : { headers },
        );
      await ok(200, call('PUT', { 'If-Match': '*' }));
      expectProblem(await call('PUT', { 'If-Match': '"x"' }), 412, 'precondition_failed');
      await ok(204, call('DELETE', { 'If-Match': '*' }));
      const created = await hawser.admin.call('POST', KEYS, { json: {}, headers: { 'If-Match': '"x"' } });
      expect(created.status, 'POST has nothing to match').to.equal(201);
    });
  });

  describe('on media types', () => {
    it('answer 406 to who accepts something else only', async () => {
      const me = '/api/v1/auth/me';
      const unfit = [
        'text/html',
        'application/xml, text/*',
        'application/json;q=0',
        'application/json; charset=latin1',
        'image/*',
      ];
      for (const accept of unfit)
        expectProblem(await hawser.admin.get(me, { Accept: accept }), 406, 'not_acceptable', accept);
      const fine = [
        'application/json',
        '*/*',
        'text/html, */*;q=0.1',
        'application/*',
        'APPLICATION/JSON',
        'application/json; charset=utf-8',
        'text/html, application/json;charset=UTF-8;q=0.5',
        '',
      ];
      for (const accept of fine)
        expect((await hawser.admin.get(me, { Accept: accept })).status, accept).to.equal(200);
      const bundle = `/api/v1/nodes/${node.nodeId}/configuration/bundle`;
      await ok(200, hawser.admin.get(bundle, { Accept: 'application/zip' }));
      expectProblem(await hawser.admin.get(bundle, { Accept: 'application/json' }), 406, 'not_acceptable');
    });

    it('answer 406 to GET where there is no such type, but for the pages and their files', async () => {
      for (const route of gets().filter(({ path }) => !/^\/(?:ui|login)|\.png$/.test(path))) {
        const path = addressOf(route, world.valuesOf(route)) + neededQuery(route);
        const reply = await hawser.admin.get(path, { Accept: 'image/png' });
        expectProblem(reply, 406, 'not_acceptable', path);
      }
    });

    it('answer 406 before anything is changed', async () => {
      const count = async () => (await hawser.admin.get(KEYS)).headers['x-total-count'];
      const before = await count();
      const reply = await hawser.admin.call('POST', KEYS, { json: {}, headers: { Accept: 'text/html' } });
      expectProblem(reply, 406, 'not_acceptable');
      expect(await count()).to.equal(before);
      const charset = { Accept: 'application/json; charset=utf-8' };
      await ok(201, hawser.admin.call('POST', KEYS, { json: {}, headers: charset }));
      const path = `/api/v1/nodes/${node.nodeId}/configuration`;
      const json = { configurationName: 'web' };
      const empty = await hawser.admin.call('PUT', path, { json, headers: { Accept: 'text/html' } });
      expect(empty.status, 'an answer without a body suits everybody').to.equal(204);
    });

    it('answer 415 to a body that is not said to be JSON', async () => {
      const call = (headers: Record<string, string>, body = '{}') =>
        hawser.admin.call('POST', KEYS, { body, headers });
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/jsonp',
        'json',
        '',
      ]) {
        expectProblem(await call({ 'Content-Type': type }), 415, 'unsupported_media_type', type);
      }
      expectProblem(await call({}), 415, 'unsupported_media_type');
      const zipped = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
      expectProblem(await call(zipped), 415, 'unsupported_media_type');
      for (const type of ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON']) {
        expect((await call({ 'Content-Type': type })).status, type).to.equal(201);
      }
      const upload = await hawser.admin.post('/api/v1/configurations', { name: 'x' });
      expectProblem(upload, 415, 'unsupported_media_type', 'JSON where a form is expected');
    });
  });

  describe('on JSON bodies', () => {
    const post = (body: string | Buffer, path = KEYS) =>
      hawser.admin.call('POST', path, { body, headers: { 'Content-Type': 'application/json' } });

    it('refuse what is not JSON in UTF-8', async () => {
      const broken = [
        '',
        '{',
        '{}}',
        "{'a':1}",
        '{"a":1,}',
        'undefined',
        '// no\n{}',
        '[',
        '['.repeat(200_000),
        'NaN',
      ];
      for (const body of broken) {
        expectNoJson(await post(body), body.slice(0, 20));
      }
      const bytes = Buffer.from('{"description":"x"}');
      bytes[16] = 0xff;
      expectNoJson(await post(bytes));
      expectNoJson(await post(Buffer.from('{}', 'utf16le')));
    });

    it('answer 400, not 415, where there is no body at all', async () => {
      expectNoJson(await hawser.admin.call('POST', KEYS, {}));
      expectNoJson(await hawser.client().call('POST', '/api/v1/auth/login', {}));
    });

    it('refuse what is JSON, but no object', async () => {
      for (const body of ['null', '[]', '5', '"text"', 'true', '[{}]']) {
        const reply = await post(body);
        expectProblem(reply, 400, 'validation_failed', body);
        expect(reply.json.errors[0].path).to.equal('');
      }
    });

    it('refuse members that do not exist, each by its JSON Pointer', async () => {
      const reply = await post(
        '{"__proto__": {"description": "x"}, "constructor": 1, "a/b~c": 2, "": 3, "maxUses": "x"}',
      );
      expectProblem(reply, 400, 'validation_failed');
      const errors: Record<string, string>[] = reply.json.errors;
      for (const error of errors) expect(error).to.have.all.keys('path', 'message', 'code');
      expect(errors.map((error) => error['path'])).to.have.members([
        ...['/__proto__', '/constructor', '/a~1b~0c', '/', '/maxUses'],
      ]);
      expect(Object.prototype).to.not.have.property('description');
      const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`member${n}`, n]));
      const bounded = await hawser.admin.post(KEYS, many);
      expectProblem(bounded, 400, 'validation_failed');
      expect(bounded.json.errors.length).to.be.within(1, 100);
    });

    it('ignore members that do not exist when a node registers', async () => {
      const node = await hawser.registerNode('newer-agent.example.org');
      const { key } = (await hawser.admin.post(KEYS, {})).json;
      const body = JSON.stringify({ registrationKey: key, fqdn: node.fqdn, agentVersion: '9.9' });
      const reply = await node.client.call('POST', '/api/v1/nodes/register', {
        body: body.replace('{', '{"__proto__": {"x": 1}, '),
        headers: { 'Content-Type': 'application/json' },
      });
      expect(reply.status).to.equal(200);
      expect(reply.json).to.deep.equal({ nodeId: node.nodeId });
    });

    it('answer 413 to one that is too large, and go on over the same connection', async () => {
      const large = `{"description":"${'x'.repeat(1024 * 1024)}"}`;
      expectProblem(await post(large), 413, 'payload_too_large');
      const head = `POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
      const next = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
      const declared = [`${head}Content-Length: ${large.length}\r\n\r\n`, large, next];
      expect(statusesOf(await exchange(hawser.target(), ...declared))).to.deep.equal([413, 200]);
      const size = large.length.toString(16);
      const chunked = [`${head}Transfer-Encoding: chunked\r\n\r\n${size}\r\n`, large, '\r\n0\r\n\r\n', next];
      expect(statusesOf(await exchange(hawser.target(), ...chunked))).to.deep.equal([413, 200]);
    });
  });

  describe('on requests that are hardly HTTP', () => {
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;

    it('answer with a problem and a request id, and never fall over', async () => {
      const broken = [
        'NONSENSE\r\n\r\n',
        'GET /health HTTP/1.1\r\n\r\n',
        'GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n',
        'GET /health HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nhOST: evil.example\r\n\r\n',
        'GET /health HTTP/1.0\r\nHost: localhost\r\nHost: localhost\r\n\r\n',
        'GET /health HTTP/1.1\r\nHost: localhost\r\nBad Header: x\r\n\r\n',
        'POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n',
      ];
      for (const bytes of broken) {
        const received = await exchange(hawser.target(), bytes);
        expect(statusesOf(received), bytes).to.deep.equal([400]);
        expect(received)
          .to.match(/^x-request-id: /im)
          .and.include('application/problem+json');
      }
      expect(statusesOf(await exchange(hawser.target(), get('/health')))).to.deep.equal([200]);
    });

    it('take requests of HTTP/1.0, which knows no Host header', async () => {
      expect(statusesOf(await exchange(hawser.target(), 'GET /health HTTP/1.0\r\n\r\n'))).to.deep.equal([
        200,
      ]);
    });

    it('answer 405 to CONNECT, and close, also behind an answer', async () => {
      const connect = 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n';
      const received = await exchange(hawser.target(), connect);
      expect(statusesOf(received)).to.deep.equal([405]);
      expect(received)
        .to.include('"code":"method_not_allowed"')
        .and.include('application/problem+json')
        .and.match(/^allow: .*GET/im)
        .and.match(/^x-request-id: /im)
        .and.match(/^connection: close/im);
      const kept = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
      const socket = await openSocket(hawser.target());
      socket.write(kept);
      const [first] = await once(socket, 'data');
      expect(statusesOf(String(first))).to.deep.equal([200]);
      socket.write(connect);
      const [second] = await once(socket, 'data');
      expect(statusesOf(String(second))).to.deep.equal([405]);
      await once(socket, 'close');
    });

    it('answer OPTIONS of the whole server, and what asks for another protocol as if it did not', async () => {
      const options = 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
      const received = await exchange(hawser.target(), options);
      expect(statusesOf(received)).to.deep.equal([204]);
      expect(received).to.match(/^allow: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT\r$/im);
      const upgrade = 'Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n';
      const health = `GET /health HTTP/1.1\r\nHost: localhost\r\n${upgrade}`;
      expect(statusesOf(await exchange(hawser.target(), health))).to.deep.equal([200]);
    });

    it('take an address in its absolute form, and no other host for a different one', async () => {
      expect(statusesOf(await exchange(hawser.target(), get('https://localhost/health')))).to.deep.equal([
        200,
      ]);
      expect(
        statusesOf(await exchange(hawser.target(), get('https://evil.example/api/v1/nodes'))),
      ).to.deep.equal([401]);
    });
  });
});
