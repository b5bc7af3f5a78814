// everyday: SQLite
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { makeClient } from '../support/client.ts';
import { loadedBy } from '../support/console-files.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { programArguments } from '../support/program.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { follow, type Spawned } from '../support/spawned.ts';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

const KEPT_FOR_GOOD = 'public, max-age=31536000, immutable';

describe('the console, as it is handed out', () => {
  let hawser: Hawser;
  let page: string;

  before(async () => {
    programArguments('main');
    hawser = await startHawser();
    page = (await hawser.client().get('/ui/')).text;
  });
  after(() => hawser.close());

  /** The answer as it is on the wire: the clients of the other tests unpack what is compressed. */
  async function ask(
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ reply: IncomingMessage; bytes: Buffer }> {
    const { port, ca } = hawser.target();
    const sent = request({ host: 'localhost', port, ca, path, headers }).end();
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    return { reply, bytes: await buffer(reply) };
  }

  it('is what the address of the server leads to, and its own address without the slash', async () => {
    for (const path of ['/', '/ui']) {
      const reply = await hawser.client().get(path);
      expect(reply.status, path).to.equal(302);
      expect(reply.headers['location'], path).to.equal('/ui/');
    }
  });

  it('is one page under all of its addresses, for anybody, which may run and load only what is of this server', async () => {
    const paths = [
      '/ui/',
      '/ui/nodes',
      '/ui/nodes?status=Error&page=2',
      '/ui/nodes/a%2Fb/parameters/',
      '/ui/a...b',
    ];
    for (const path of [...paths, '/ui/assets', '/ui/assets/']) {
      const { status, headers, text } = await hawser.client().get(path);
      expect(status, path).to.equal(200);
      expect(text, path).to.equal(page);
      expect(headers, path).to.include({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': POLICY,
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        vary: 'Accept-Encoding',
      });
      expect(headers, path).to.not.have.property('set-cookie');
    }
    expect(page).to.not.match(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/);
    const withSession = await hawser.client().with({ Cookie: hawser.session }).get('/ui/');
    expect(withSession.text).to.equal(page);
  });

  it('loads only files that are there, which browsers keep for good', async () => {
    const types: Record<string, string> = {
      js: 'text/javascript; charset=utf-8',
      css: 'text/css; charset=utf-8',
    };
    const loaded = loadedBy(page);
    expect(loaded).to.have.lengthOf.at.least(3);
    for (const path of loaded) {
      const { status, headers, bytes } = await hawser.client().get(path);
      expect(status, path).to.equal(200);
      expect(bytes.length, path).to.be.greaterThan(0);
      expect(headers, path).to.include({
        'content-type': types[path.split('.').at(-1) ?? ''],
        'cache-control': KEPT_FOR_GOOD,
        'x-content-type-options': 'nosniff',
        vary: 'Accept-Encoding',
      });
    }
  });

  it('answers 304 to whoever has a file in the form that is asked for', async () => {
    for (const path of ['/ui/', '/ui/nodes', ...loadedBy(page)]) {
      const { headers } = (await ask(path, { 'Accept-Encoding': 'br' })).reply;
      const held = { 'If-None-Match': String(headers.etag) };
      const again = await ask(path, { ...held, 'Accept-Encoding': 'br' });
      expect(again.reply.statusCode, path).to.equal(304);
      expect(again.bytes.length, path).to.equal(0);
      expect(again.reply.headers, path).to.not.have.property('content-encoding');
      expect(again.reply.headers, path).to.include({
        etag: headers.etag,
        vary: 'Accept-Encoding',
        'cache-control': headers['cache-control'],
      });
      // What is kept unpacked is another form.
      if (headers['content-encoding'] !== undefined)
        expect((await ask(path, held)).reply.statusCode, path).to.equal(200);
    }
  });

  it('sends the form that the browser likes, and the plain one to whoever names none', async () => {
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync, undefined: (bytes: Buffer) => bytes };
    const expected = {
      'gzip, deflate, br, zstd': 'br',
      'br;q=0.5, gzip': 'gzip',
      gzip: 'gzip',
      '*': 'br',
      'identity, br;q=0.5': undefined,
      'br;q=0, gzip;q=0': undefined,
      zstd: undefined,
      '': undefined,
    };
    for (const [accepted, coding] of Object.entries(expected)) {
      const { reply, bytes } = await ask('/ui/', { 'Accept-Encoding': accepted });
      expect(reply.headers['content-encoding'], accepted).to.equal(coding);
      expect(reply.headers['content-length'], accepted).to.equal(String(bytes.length));
      expect(unpack[coding as keyof typeof unpack](bytes).toString(), accepted).to.equal(page);
    }
  });

  it('hands out nothing but its own files', async () => {
    const others = [
      ...['main.js', 'index.html', 'theme.css', 'main-00000000.js', 'a/b.js', '__proto__', '%00'],
      ...[
        '..%2f..%2fmain.js',
        '..%2F..%2Fmain.js',
        '%2e%2e/%2e%2e/main.js',
        '../../main.js',
        '..%5c..%5cmain.js',
      ],
      ...[`${loadedBy(page)[0]?.split('/').at(-1)}.br`, `${loadedBy(page)[0]?.split('/').at(-1)}.gz`],
    ];
    for (const name of others) {
      const reply = await hawser.client().get(`/ui/assets/${name}`);
      expect(reply.status, name).to.equal(404);
      expect(reply.headers['content-type'], name).to.equal('application/problem+json; charset=utf-8');
      expect(reply.json.code, name).to.equal('not_found');
      expect(reply.headers['cache-control'], name).to.equal('no-store');
    }
  });

  it('is not there with HAWSER_UI=off, where the address of the server is nothing, as before', async () => {
    const without = await startHawser({ HAWSER_UI: 'off' });
    try {
      for (const path of ['/', '/ui', '/ui/', '/ui/nodes', ...loadedBy(page)]) {
        await expectProblem(without.client().get(path), 404, 'not_found', path);
      }
    } finally {
      await without.close();
    }
  });
});

describe('a server whose build is removed', () => {
  let folder: string;
  let project: string;
  let builtConsole: string;

  before(() => {
    programArguments('main');
    folder = mkdtempSync(join(tmpdir(), 'hawser-console-'));
    project = join(folder, 'project');
    const program = readFileSync(join(PROJECT, '.build/main.js'), 'utf8');
    const build = /[0-9a-f]{16}/.exec(program)?.[0] ?? '';
    for (const path of ['package.json', '.build/main.js', '.build/required-node.js', `.build/${build}`])
      cpSync(join(PROJECT, path), join(project, path), { recursive: true });
    symlinkSync(join(PROJECT, 'node_modules'), join(project, 'node_modules'));
    builtConsole = join(project, '.build', build, 'ui');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function serve(): Spawned {
    const dataDir = join(folder, 'data');
    const env = {
      PATH: process.env['PATH'] ?? '',
      HAWSER_HOST: '127.0.0.1',
      HAWSER_PORT: '0',
      HAWSER_DATA_DIR: dataDir,
      HAWSER_REPOS_DIR: join(folder, 'repos'),
    };
    return follow(spawn(process.execPath, [join(project, '.build/main.js')], { env }), dataDir);
  }

  async function end(server: Spawned): Promise<void> {
    server.child.kill('SIGTERM');
    expect((await server.ended).code).to.equal(0);
  }

  it('goes on with the console that it has, and when started anew says that there is none', async () => {
    const server = serve();
    const client = makeClient(await server.listening());
    const { text: page } = await client.get('/ui/');
    rmSync(builtConsole, { recursive: true });
    expect((await client.get('/ui/nodes')).text).to.equal(page);
    for (const path of loadedBy(page)) expect((await client.get(path)).status, path).to.equal(200);
    client.close();
    await end(server);
    expect(server.stdout()).to.not.include('the files of the console are missing');

    const again = serve();
    const later = makeClient(await again.listening());
    expect(again.stdout()).to.include('the files of the console are missing');
    for (const path of ['/ui/', '/ui/nodes', ...loadedBy(page)]) {
      await expectProblem(later.get(path), 404, 'not_found', path);
    }
    await ok(200, later.get('/login'));
    later.close();
    await end(again);
  });
});
