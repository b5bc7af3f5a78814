// full: SQLite, PostgreSQL
/** Ways to secrets that are no routes: stock git within one repository, what commands and webhooks tell, and a kill. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { Threads } from '../../src/lib/threads.ts';
import { makeClient } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { storedBytes } from '../support/database.ts';
import { itOnSqlite, placeOf } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { asAdmin, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, poll, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { pushFolder } from '../support/parameter-folders.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, tagNode } from '../support/scopes.ts';
import { runHawser, spawnHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';
import { SECRET, WEBHOOKS } from '../support/webhooks.ts';

const CANARY = 'Kanarienvogel-7711';
const SCHEMA = "$schema: x\nparameters: {pw: {type: secureString, defaultValue: ''}}\nresources: []\n";

/** Where the text is below the folder: in files as they are, and in objects of git, which are compressed. */
function placesOf(text: string, folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  const files = paths.filter((path) => statSync(path).isFile() && readFileSync(path).includes(text));
  const objects = paths.filter(
    (path) =>
      path.endsWith('.git') &&
      existsSync(join(path, 'HEAD')) &&
      execFileSync('git', ['-C', path, 'cat-file', '--batch-all-objects', '--batch']).includes(text),
  );
  return [...files, ...objects];
}

/** Ends the thread that is given this task first, in the middle of it. */
function endThreadOf(task: string) {
  const { prototype } = Threads;
  const { run } = prototype;
  let ended = 0;
  prototype.run = function (this: Threads<never>, caller: string, name: string, ...rest: unknown[]) {
    const running = run.call(this, caller, name as never, ...(rest as [never]));
    if (name !== task || ended > 0) return running;
    ended += 1;
    // The task is on its way once its caller has its turn.
    setImmediate(() => {
      for (const { worker } of (this as unknown as { threads: Set<{ worker: Worker }> }).threads)
        void worker.terminate();
    });
    return running;
  } as typeof run;
  return {
    ended: () => ended,
    stop() {
      prototype.run = run;
    },
  };
}

describe('secrets under attack', () => {
  const hawser = started(startHawser);

  before(async () => {
    await publishConfiguration(hawser.admin, 'shop', { '1.0.0': { [MAIN]: SCHEMA } });
  });

  // Repositories are folders there, which stock git can write to.
  itOnSqlite('do not open for the nodes of another scope to which stock git copies a tag', async () => {
    const type = await createScopeType(hawser, 'Environment');
    const nodes = new Map<string, Awaited<ReturnType<typeof hawser.registerNode>>>();
    for (const value of ['dev', 'prod']) {
      const content = `parameters: {pw: ${value === 'prod' ? CANARY : 'of-dev'}}\n`;
      const valueId = await createScopeValue(hawser, type, value);
      const version = value === 'prod' ? '1.1.0' : '1.0.0';
      const of = { configuration: 'shop', scopeType: 'Environment', value };
      await saveParameters(hawser, { ...of, version, content });
      const node = await hawser.registerNode(`${value}.example.org`);
      await tagNode(hawser, node.nodeId, valueId);
      await assign(hawser, node, 'shop');
      nodes.set(value, node);
      expect(await pullParameters(node)).to.include(value === 'prod' ? CANARY : 'of-dev');
    }
    const [dev, prod] = [nodes.get('dev'), nodes.get('prod')];
    if (!dev || !prod) throw new Error('There are no nodes');
    const gitdir = join(hawser.reposDir, 'parameters/shop.git');
    const person = ['-c', 'user.name=Carol', '-c', 'user.email=carol@example.org'];
    const pipe = (input: string, ...words: string[]) =>
      execFileSync('git', ['--git-dir', gitdir, ...person, ...words], { encoding: 'utf8', input }).trim();
    const copied = 'refs/tags/Environment/prod/v1.1.0';
    // A scope's file lies in a folder of its name, so the tag alone is no version of another one.
    pipe('', 'update-ref', 'refs/tags/Environment/dev/v1.1.0', copied);
    const blob = pipe('', 'rev-parse', `${copied}:prod/parameters.yaml`);
    const folder = pipe(`100644 blob ${blob}\tparameters.yaml\n`, 'mktree');
    const tree = pipe(`040000 tree ${folder}\tdev\n`, 'mktree');
    const commit = pipe('', 'commit-tree', tree, '-m', 'copied');
    pipe('', 'tag', '-a', 'Environment/dev/v1.2.0', '-m', 'Version 1.2.0', commit);
    await eventually(async () => {
      await expectProblem(poll(dev), 409, 'secret_unreadable');
    });
    const answer = await dev.client.get(`/api/v1/nodes/${dev.nodeId}/configuration/bundle`);
    expect(answer.bytes.includes(CANARY)).to.equal(false);
    expect(await pullParameters(prod)).to.include(CANARY);
  });

  it('are in nothing that commands and webhooks tell', async () => {
    const webhook = { url: 'https://127.0.0.1:9/', events: ['secret.revealed'], secret: SECRET };
    const { id } = await ok(201, hawser.admin.post(WEBHOOKS, webhook));
    await saveParameters(hawser, {
      configuration: 'shop',
      version: '1.5.0',
      content: `parameters: {pw: ${CANARY}}\n`,
    });
    const node = await hawser.registerNode('web.example.org');
    await assign(hawser, node, 'shop');
    const { checksum } = await ok(200, poll(node));
    expect(await pullParameters(node)).to.include(CANARY);
    const teller = await makeUser(hawser, {
      username: 'teller',
      permissions: ['secrets.reveal'],
      grants: [{ on: 'parameters', name: 'shop', level: 'Read' }],
    });
    const series = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'shop')}`;
    const wanted = { path: '/parameters/pw', reason: 'the drill' };
    expect((await ok(200, teller.post(`${series}/versions/1.5.0/reveal`, wanted))).value).to.equal(CANARY);
    const delivery = await eventually(async () => {
      const reply = await hawser.admin.get(`${WEBHOOKS}/${id}/deliveries`);
      if (reply.json.length === 0) throw new Error('no event has come to the outbox yet');
      return reply.text;
    });
    expect(delivery).to.include('secret.revealed').and.to.not.include(CANARY);
    for (const [place, bytes] of await storedBytes(hawser))
      expect(bytes.includes(CANARY), place).to.equal(false);
    const archive = join(hawser.folder, 'archive.zip');
    for (const words of [['verify', checksum], ['doctor', '--json'], ['status'], ['backup', archive]]) {
      const { stdout, stderr } = await runHawser(hawser.folder, {}, words);
      expect(stdout + stderr, words.join(' '))
        .to.not.equal('')
        .and.to.not.include(CANARY);
    }
    const restored = join(hawser.folder, 'restored');
    expect((await runHawser(restored, {}, ['restore', archive])).code).to.equal(0);
    expect(placesOf(CANARY, hawser.folder)).to.deep.equal([]);
  });

  it('are not on the disk of a server that was killed while it encrypted them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hawser-killed-'));
    const server = await spawnHawser(folder);
    const client = makeClient(await server.listening());
    const admin = await asAdmin(client);
    const names = Array.from({ length: 2_000 }, (_, at) => `p${at}`);
    const types = names.map((name) => `  ${name}: {type: secureString}\n`).join('');
    const schema = `$schema: x\nparameters:\n${types}resources: []\n`;
    await publishConfiguration(admin, 'large', { '1.0.0': { [MAIN]: schema } });
    const series = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(admin, 'large')}`;
    const content = `parameters:\n${names.map((name) => `  ${name}: ${CANARY}\n`).join('')}`;
    const saves = Array.from({ length: 8 }, (_, at) =>
      admin.put(series, { version: `1.${at}.0`, content }).then(
        ({ status }) => status,
        () => 0,
      ),
    );
    expect(await Promise.race(saves)).to.equal(201);
    server.child.kill('SIGKILL');
    await server.ended;
    const outcomes = await Promise.all(saves);
    client.close();
    expect(placesOf(CANARY, folder)).to.deep.equal([]);
    for (const [place, bytes] of await storedBytes(await placeOf(join(folder, 'data'))))
      expect(bytes.includes(CANARY), place).to.equal(false);
    const again = await spawnHawser(folder);
    const back = makeClient(await again.listening());
    const reader = await asAdmin(back);
    for (const [at, status] of outcomes.entries())
      if (status === 201) await ok(200, reader.get(`${series}/versions/1.${at}.0`));
    await expectProblem(reader.get(`${series}/versions/9.0.0`), 404, 'not_found');
    back.close();
    again.child.kill('SIGTERM');
    await again.ended;
    rmSync(folder, { recursive: true });
  });

  it('leave nothing half written where the thread that encrypts them ends in the middle', async () => {
    await publishConfiguration(hawser.admin, 'ended', { '1.0.0': { [MAIN]: SCHEMA } });
    // So much that it is read in a thread.
    const large = `parameters:\n  pw: "${CANARY}${'x'.repeat(4_000)}"\n`;
    const series = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'ended')}`;
    const save = () => hawser.admin.put(series, { version: '1.0.0', content: large });
    const folder = () =>
      pushFolder(hawser.admin, {
        'parameters/ended/Default.yaml': large,
        'parameters/shop/Default.yaml': 'parameters: {pw: another}\n',
      });
    const files = async () => [
      await ok(200, hawser.admin.get('/api/v1/configurations/ended/parameter-files')),
      await ok(200, hawser.admin.get('/api/v1/configurations/shop/parameter-files')),
    ];
    const before = await files();
    for (const [task, send] of [
      ['surveySecrets', save],
      ['sealSecrets', save],
      ['sealSecrets', folder],
    ] as const) {
      const ending = endThreadOf(task);
      try {
        await expectProblem(send(), 500, 'internal_error');
      } finally {
        ending.stop();
      }
      expect(ending.ended(), task).to.equal(1);
      expect(await files(), task).to.deep.equal(before);
    }
    expect(placesOf(CANARY, join(hawser.folder, 'repos'))).to.deep.equal([]);
    await ok(201, save());
    const { content } = await ok(200, hawser.admin.get(`${series}/versions/1.0.0`));
    expect(content).to.match(/^parameters:\n {2}pw: "ENC\[/);
    expect((await ok(200, folder())).length).to.equal(2);
  });
});
