// full: SQLite
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { PUSH_ADVERTISEMENT_TYPE, pushAdvertisement } from '../../../../src/git/push/advertisement.ts';
import {
  PUSH_REQUEST_TYPE,
  type PushRequest,
  readPushRequest,
} from '../../../../src/git/push/push-request.ts';
import { PUSH_RESULT_TYPE, type PushOutcome, pushReport } from '../../../../src/git/push/report.ts';
import { type GitClient, type GitRun, gitClient } from '../../../support/git-client.ts';
import { git } from '../../../support/hawser.ts';
import { A } from './support.ts';

interface Push extends Omit<PushRequest, 'pack'> {
  pack: Buffer | null;
  headers: IncomingMessage['headers'];
}

/** What is told beside the usual: success for every ref. */
type Verdict = (request: PushRequest) => Partial<PushOutcome>;

/** A server that speaks for a repository of refs alone. It takes every pack and answers what the test wants. */
class PushServer {
  readonly refs = new Map<string, string>();
  readonly shallow: string[] = [];
  readonly pushes: Push[] = [];
  readonly faults: unknown[] = [];
  probes = 0;
  verdict: Verdict = () => ({});
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      this.answer(request, response).catch((error: unknown) => {
        this.faults.push(error);
        response.writeHead(500).end();
      });
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/web.git`;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      expect(request.url).to.equal('/web.git/info/refs?service=git-receive-pack');
      response.setHeader('content-type', PUSH_ADVERTISEMENT_TYPE);
      response.end(pushAdvertisement(this.refs, this.shallow));
      return;
    }
    expect(request.url).to.equal('/web.git/git-receive-pack');
    expect(request.headers['content-type']).to.equal(PUSH_REQUEST_TYPE);
    response.setHeader('content-type', PUSH_RESULT_TYPE);
    const push = await readPushRequest(request);
    if (push === null) this.probes += 1;
    response.end(push === null ? '' : await this.receive(push, request));
  }

  private async receive(push: PushRequest, { headers }: IncomingMessage): Promise<Buffer> {
    const pack = push.pack === null ? null : await buffer(push.pack);
    this.pushes.push({ ...push, pack, headers });
    const outcomes = push.commands.map(({ name }) => ({ name, error: null }));
    const told: PushOutcome = { unpack: 'ok', outcomes, lines: [], ...this.verdict(push) };
    for (const { name, error, became } of told.outcomes) {
      const to = became?.to ?? push.commands.find((command) => command.name === name)?.to;
      if (error !== null) continue;
      if (to) this.refs.set(became?.name ?? name, to);
      else this.refs.delete(name);
    }
    return pushReport(push.capabilities, told);
  }
}

/** A pack ends with the checksum of all before it, so a lost or changed byte shows. */
function expectWhole(pack: Buffer | null | undefined): void {
  expect(pack?.toString('latin1', 0, 4)).to.equal('PACK');
  const sum = createHash('sha1')
    .update((pack as Buffer).subarray(0, -20))
    .digest();
  expect(pack?.subarray(-20)).to.deep.equal(sum);
}

describe('a push by stock git', () => {
  let server: PushServer;
  let client: GitClient;
  let tip: string;

  beforeEach(async () => {
    server = new PushServer();
    await server.open();
    // The test speaks plain HTTP, so neither the folder of the authority nor the port matters.
    client = gitClient({ dataDir: '/nonexistent', server: { port: 1 } });
    git(client.folder, 'init', '-q', '-b', 'main');
    git(client.folder, 'config', 'user.name', 'a');
    git(client.folder, 'config', 'user.email', 'a@b');
    git(client.folder, 'remote', 'add', 'origin', server.url);
    tip = commit('one');
  });

  afterEach(async () => {
    client.close();
    await server.close();
    expect(server.faults).to.deep.equal([]);
  });

  function commit(content: string | Buffer): string {
    writeFileSync(join(client.folder, 'content'), content);
    git(client.folder, 'add', 'content');
    git(client.folder, 'commit', '-q', '-m', 'work');
    return git(client.folder, 'rev-parse', 'HEAD').trim();
  }

  /** Runs `git push`. Fails unless it ends with this code. */
  async function push(code: number, ...args: string[]): Promise<string> {
    const run: GitRun = await client.run('push', ...args);
    expect(run.code, run.output).to.equal(code);
    return run.output;
  }

  it('makes a branch and a tag in an empty repository, and prints what the server says', async () => {
    git(client.folder, 'tag', '-a', '-m', 'one', 'v1.0.0');
    server.verdict = () => ({ lines: ['hawser: 1.0.0 is published; 42 nodes are offered it.', 'café'] });
    const output = await push(0, 'origin', 'main:draft/1.0.0', 'v1.0.0');
    expect(output).to.match(/^remote: hawser: 1\.0\.0 is published; 42 nodes are offered it\. *$/m);
    expect(output).to.match(/^remote: café *$/m);
    expect(output).to.match(/^ \* \[new branch\] +main -> draft\/1\.0\.0$/m);
    expect(output).to.match(/^ \* \[new tag\] +v1\.0\.0 -> v1\.0\.0$/m);
    const tag = git(client.folder, 'rev-parse', 'v1.0.0').trim();
    expect(server.pushes[0]?.commands).to.deep.equal([
      { name: 'refs/heads/draft/1.0.0', from: null, to: tip },
      { name: 'refs/tags/v1.0.0', from: null, to: tag },
    ]);
    expect([...(server.pushes[0]?.capabilities ?? [])]).to.include.members([
      'report-status-v2',
      'side-band-64k',
      'object-format=sha1',
    ]);
    expectWhole(server.pushes[0]?.pack);
  });

  it('is told why each ref was refused', async () => {
    server.verdict = ({ commands }) => ({
      lines: ['hawser: draft/1.0.0: entry_point_missing: There is no file', 'hawser: Nothing was changed.'],
      outcomes: commands.map(({ name }) => ({ name, error: 'entry_point_missing' })),
    });
    const output = await push(1, 'origin', 'main:draft/1.0.0', 'main:draft/2.0.0');
    expect(output).to.match(/^remote: hawser: Nothing was changed\. *$/m);
    for (const version of ['1.0.0', '2.0.0']) {
      const line = ` ! [remote rejected] main -> draft/${version} (entry_point_missing)`;
      expect(output.split('\n')).to.include(line);
    }
    expect(output).to.include('failed to push some refs');
  });

  it('is told that the pack is bad', async () => {
    server.verdict = ({ commands }) => ({
      unpack: 'index-pack failed',
      outcomes: commands.map(({ name }) => ({ name, error: 'invalid_pack' })),
    });
    const output = await push(1, 'origin', 'main:draft/1.0.0');
    expect(output).to.include('error: remote unpack failed: index-pack failed');
    expect(output).to.include('! [remote rejected] main -> draft/1.0.0 (invalid_pack)');
  });

  it('shows the tag that the server made of a branch, and follows no branch', async () => {
    server.refs.set('refs/heads/draft/1.0.0', tip);
    const next = commit('two');
    server.verdict = ({ commands, options }) => ({
      outcomes: commands.map(({ name }) => ({
        name,
        error: null,
        became: options.includes('publish') ? { name: 'refs/tags/v1.0.0', from: null, to: A } : undefined,
      })),
    });
    const output = await push(0, '-o', 'publish', '-o', 'entry-point=a b.yaml', 'origin', 'main:draft/1.0.0');
    expect(server.pushes[0]?.options).to.deep.equal(['publish', 'entry-point=a b.yaml']);
    expect(server.pushes[0]?.commands).to.deep.equal([
      { name: 'refs/heads/draft/1.0.0', from: tip, to: next },
    ]);
    expect(output).to.match(/^ \* \[new tag\] +main -> v1\.0\.0$/m);
    expect(git(client.folder, 'for-each-ref', 'refs/remotes')).to.equal('');
    await push(0, 'origin', 'main:draft/1.0.0');
    expect(git(client.folder, 'for-each-ref', 'refs/remotes')).to.include(`${next} commit`);
  });

  it('moves, forces and deletes what it was told of', async () => {
    await push(0, 'origin', 'main:draft/1.0.0');
    const next = commit('two');
    expect(await push(0, 'origin', 'main:draft/1.0.0')).to.match(/^ {3}\w+\.\.\w+ +main -> draft\/1\.0\.0$/m);
    expect(await push(1, 'origin', `${tip}:draft/1.0.0`)).to.include('[rejected]');
    expect(server.pushes).to.have.length(2);
    expect(await push(0, '-f', 'origin', `${tip}:draft/1.0.0`)).to.include('(forced update)');
    expect(await push(0, 'origin', ':draft/1.0.0')).to.match(/^ - \[deleted\] +draft\/1\.0\.0$/m);
    expect(server.pushes.map(({ commands: [command] }) => [command?.from, command?.to])).to.deep.equal([
      [null, tip],
      [tip, next],
      [next, tip],
      [tip, null],
    ]);
    expect(server.pushes.at(-1)?.pack).to.equal(null);
    expect(server.refs.size).to.equal(0);
  });

  it('asks first whether it may send much, and then sends it in pieces', async () => {
    commit(
      createHash('shake256', { outputLength: 3 * 1024 * 1024 })
        .update('seed')
        .digest(),
    );
    await push(0, 'origin', 'main:draft/1.0.0');
    expect(server.probes).to.equal(1);
    expect(server.pushes[0]?.headers['transfer-encoding']).to.equal('chunked');
    expect(server.pushes[0]?.pack?.length).to.be.greaterThan(3 * 1024 * 1024);
    expectWhole(server.pushes[0]?.pack);
  });

  it('reads a report of many refs and long lines', async () => {
    const branches = Array.from({ length: 400 }, (_, n) => `draft/${n}-${'é'.repeat(100)}`);
    server.verdict = () => ({ lines: ['x'.repeat(150_000), 'last'] });
    const output = await push(0, 'origin', ...branches.map((name) => `main:refs/heads/${name}`));
    expect(output.match(/\[new branch\]/g)).to.have.length(400);
    expect(output).to.include(`remote: ${'x'.repeat(150_000)}`);
    expect(output).to.match(/^remote: last *$/m);
  });

  it('pushes from a shallow clone, and to a repository whose history is cut', async () => {
    commit('two');
    const origin = client.folder;
    await client.run('clone', '-q', '--depth', '1', `file://${origin}`, 'clone');
    const clone = join(origin, 'clone');
    server.shallow.push(tip);
    server.refs.set('refs/heads/draft/1.0.0', tip);
    const run = await client.run('-C', clone, 'push', server.url, 'HEAD:draft/2.0.0');
    expect(run.code, run.output).to.equal(0);
    expect(run.output).to.match(/\[new branch\] +HEAD -> draft\/2\.0\.0/);
    expectWhole(server.pushes[0]?.pack);
  });

  it('is atomic where the user wants that, and quiet', async () => {
    await push(0, '--atomic', '-q', 'origin', 'main:draft/1.0.0');
    expect([...(server.pushes[0]?.capabilities ?? [])]).to.include.members(['atomic', 'quiet']);
  });

  it('asks for no other version of the protocol', async () => {
    const run = await client.run('-c', 'protocol.version=2', 'push', 'origin', 'main:draft/1.0.0');
    expect(run.code, run.output).to.equal(0);
    expect(server.pushes[0]?.headers['git-protocol']).to.equal(undefined);
  });
});
