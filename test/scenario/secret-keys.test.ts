// full: SQLite, PostgreSQL
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { evidenceOf, newKeyLine, sealedKeyId, secretKey } from '../../src/lib/sealed-text.ts';
import { SecretStore } from '../../src/security/secrets/secret-store.ts';
import { auditEntries } from '../support/audit.ts';
import { type Client, makeClient } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { ENGINE, itOnSqlite, placeOf } from '../support/engine.ts';
import { asAdmin, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { runHawser, spawnHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';
import { unzip } from '../support/unzip.ts';

const BYTES = Buffer.from('parameters:\n  pw: x\n');
const idOf = (line: string) => secretKey(Buffer.from(line, 'base64')).id;
const linesOf = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n');

/** As a server on this folder encrypts its first secret. @returns the id of the key, and evidence of some bytes */
async function encryptSomething(dataDir: string): Promise<{ id: string; evidence: string }> {
  return withDatabase(await placeOf(dataDir), async (database) => {
    const tools = { database, clock: systemClock, log: createLog('silent') };
    const store = await SecretStore.open({ config: { dataDir, secretsKeyFile: null }, ...tools });
    const { id } = await store.sealingKey();
    return { id, evidence: evidenceOf(store.evidenceKey(), BYTES) };
  });
}

describe('the keys of secrets, for operators', () => {
  const hawser = started(startHawser);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-keys-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  const keyFile = (name = '') => join(name === '' ? hawser.folder : join(folder, name), 'data/secrets.key');
  const run = (...words: string[]) => runHawser(hawser.folder, {}, words);

  it('are rotated by a command while the server runs, which takes the new one with SIGHUP', async () => {
    const before = await encryptSomething(hawser.dataDir);
    expect(linesOf(keyFile()).map(idOf)).to.deep.equal([before.id]);
    const { code, stdout, stderr } = await run('rotate-secrets-key');
    expect(code, stderr).to.equal(0);
    const [id = '', former] = linesOf(keyFile()).map(idOf);
    expect(former).to.equal(before.id);
    expect(stdout).to.include(id).and.to.include('hawser reload').and.to.not.include(linesOf(keyFile())[0]);
    if (ENGINE === 'postgres') expect(stdout).to.match(/1\. .*every server[\s\S]*2\. .*reload/);
    expect(statSync(keyFile()).mode & 0o777).to.equal(0o600);
    expect(await hawser.server.reloadTls()).to.deep.equal([]);
    expect(hawser.log()).to.include(`"keyIds":["${id}","${before.id}"]`);
    expect(await encryptSomething(hawser.dataDir)).to.deep.equal({ id, evidence: before.evidence });
    const named = await auditEntries(hawser, 'action=secrets.key_named');
    expect(named.map(({ details }) => details)).to.deep.equal([
      { keyId: id, formerKeyId: before.id },
      { keyId: before.id, formerKeyId: null },
    ]);
  });

  it('stay as they were where a reload finds anything else in the file', async () => {
    const content = readFileSync(keyFile(), 'utf8');
    writeFileSync(keyFile(), `${content}not-a-key-${newKeyLine()}\n`);
    const [fault, ...others] = await hawser.server.reloadTls();
    expect(others).to.deep.equal([]);
    expect(fault).to.include('line 3 of').and.to.not.include('not-a-key');
    writeFileSync(keyFile(), content);
    expect(await hawser.server.reloadTls()).to.deep.equal([]);
  });

  it('keep a server from starting with anything else in the file', async () => {
    const file = join(folder, 'given');
    const settings = { HAWSER_SECRETS_KEY_FILE: file };
    for (const [content, said] of [
      [null, 'there is no file'],
      [`${newKeyLine()}\n${newKeyLine().slice(2)}\n`, 'line 2 of'],
    ] as const) {
      if (content !== null) writeFileSync(file, content);
      const { code, stderr } = await runHawser(join(folder, 'refused'), settings);
      expect([code, stderr.includes(said)], stderr).to.deep.equal([78, true]);
      for (const line of content?.split('\n') ?? [])
        expect(line === '' || !stderr.includes(line)).to.equal(true);
    }
  });

  describe('in a backup', () => {
    const backUp = async (name: string, ...words: string[]) => {
      const archive = join(folder, `${name}.zip`);
      const { code, stderr } = await run('backup', ...words, archive);
      expect(code, stderr).to.equal(0);
      const files = await unzip(readFileSync(archive));
      return { archive, paths: files.map(({ path }) => path) };
    };
    const restore = async (name: string, archive: string) => {
      const { code, stdout, stderr } = await runHawser(join(folder, name), {}, ['restore', archive]);
      expect(code, stderr).to.equal(0);
      return stdout;
    };
    const look = async (name: string) => {
      const { stdout } = await runHawser(join(folder, name), {}, ['doctor', '--json']);
      return JSON.parse(stdout).checks.find((check: { name: string }) => check.name === 'secrets');
    };

    it('are left out, and restore and doctor name those that are missing', async () => {
      const { id } = await encryptSomething(hawser.dataDir);
      const { archive, paths } = await backUp('without');
      expect(paths).to.include('data/hawser.db').and.to.not.include('data/secrets.key');
      expect(await restore('bare', archive)).to.include(`the key ${id} of secrets is missing`);
      const { findings } = await look('bare');
      const found = findings.map(({ severity, what }: Record<string, string>) => `${severity} ${what}`);
      expect(found.join('\n')).to.match(new RegExp(`^error the key ${id} is missing`, 'm'));
      expect(found).to.have.length(2);
    });

    it('that were left out are not made anew; on PostgreSQL no server starts without the one that encrypts', async () => {
      const { id } = await encryptSomething(hawser.dataDir);
      const server = await spawnHawser(join(folder, 'bare'));
      if (ENGINE === 'postgres') {
        const { code, stderr } = await server.ended;
        expect([code, stderr.includes(id)], stderr).to.deep.equal([78, true]);
      } else {
        await server.listening();
        expect(server.stdout()).to.include('keys of secrets are missing').and.to.include(id);
        server.child.kill('SIGTERM');
        await server.ended;
      }
      expect(existsSync(keyFile('bare'))).to.equal(false);
    });

    it('are taken along with --with-keys, for the owner alone', async () => {
      const { evidence } = await encryptSomething(hawser.dataDir);
      const { archive, paths } = await backUp('with', '--with-keys');
      expect(paths).to.include('data/secrets.key');
      expect(await restore('whole', archive)).to.not.include('missing');
      expect(readFileSync(keyFile('whole'))).to.deep.equal(readFileSync(keyFile()));
      expect(statSync(keyFile('whole')).mode & 0o777).to.equal(0o600);
      expect((await encryptSomething(join(folder, 'whole/data'))).evidence).to.equal(evidence);
      const { findings } = await look('whole');
      expect(findings).to.have.length(ENGINE === 'postgres' ? 1 : 0);
      for (const { what } of findings) expect(what).to.include('in the data folder of one server');
    });

    it('that are lost are given up by a rotation, after which a server starts and encrypts again', async () => {
      const lost = await encryptSomething(hawser.dataDir);
      const { code, stdout, stderr } = await runHawser(join(folder, 'bare'), {}, ['rotate-secrets-key']);
      expect(code, stderr).to.equal(0);
      expect(stdout).to.include(`The key ${lost.id} is not in the file`);
      const server = await spawnHawser(join(folder, 'bare'));
      await server.listening();
      server.child.kill('SIGTERM');
      await server.ended;
      const now = await encryptSomething(join(folder, 'bare/data'));
      expect(linesOf(keyFile('bare')).map(idOf)).to.deep.equal([now.id]);
      expect(now.evidence).to.not.equal(lost.evidence);
    });
  });
});

describe('who may see secrets', () => {
  const hawser = started(startHawser);
  const allow = (...words: string[]) => runHawser(hawser.folder, {}, ['allow-reveal', ...words]);
  const permissionsOf = async (client: { get: typeof hawser.admin.get }) =>
    (await ok(200, client.get('/api/v1/auth/me')))['permissions'] as string[];

  it('is no administrator, and nobody gives by the API what they lack', async () => {
    expect(await permissionsOf(hawser.admin)).to.not.include('secrets.reveal');
    const role = { name: 'Readers of all', permissions: ['secrets.reveal'] };
    await expectProblem(hawser.admin.post('/api/v1/roles', role), 403, 'beyond_own_permissions');
  });

  it('is refused to whom a role of the name has been made without the permission', async () => {
    const role = await ok(
      201,
      hawser.admin.post('/api/v1/roles', { name: 'secret Readers', permissions: [] }),
    );
    const { code, stderr } = await allow('--username', 'admin');
    expect(code).to.equal(1);
    expect(stderr).to.include('without the permission secrets.reveal');
    await ok(204, hawser.admin.delete(`/api/v1/roles/${role['id']}`));
  });

  it('is a user whom the command of the server names, while the server runs; the trail says so', async () => {
    const ella = await makeUser(hawser, { username: 'ella', permissions: ['users.manage'] });
    expect(await permissionsOf(ella)).to.deep.equal(['users.manage']);
    expect((await allow('--username', 'nobody')).code).to.equal(1);
    expect((await allow()).code).to.equal(64);
    const { code, stdout, stderr } = await allow('--username', 'Ella');
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include('"ella"').and.to.include('Secret readers');
    expect(await permissionsOf(ella)).to.have.members(['users.manage', 'secrets.reveal']);
    expect((await allow('--username', 'ella')).stdout).to.include('already');
    const [changed] = await auditEntries(hawser, 'action=user.roles_changed');
    expect(changed?.details).to.include({ username: 'ella', by: 'command line' });
    const [made] = await auditEntries(hawser, 'action=role.created');
    expect(made?.details).to.include({ name: 'Secret readers' });
    expect(await permissionsOf(await ella.withToken('users.manage'))).to.deep.equal(['users.manage']);
    expect(await permissionsOf(await ella.withToken('secrets.reveal'))).to.deep.equal(['secrets.reveal']);
    const paul = await makeUser(hawser, { username: 'paul' });
    const roles = (await ok(200, hawser.admin.get('/api/v1/roles'))) as unknown as {
      id: string;
      name: string;
    }[];
    const roleIds = roles.filter(({ name }) => name === 'Secret readers').map(({ id }) => id);
    const path = `/api/v1/users/${paul.userId}/roles`;
    await expectProblem(hawser.admin.put(path, { roleIds }), 403, 'beyond_own_permissions');
    await ok(200, ella.put(path, { roleIds }));
    expect(await permissionsOf(paul)).to.deep.equal(['secrets.reveal']);
  });
});

describe('nodes that need secrets', () => {
  const hawser = started(startHawser);
  let folder: string;
  let path: string;
  let node: NodeUnderTest;
  let free: NodeUnderTest;
  /** What the node is offered, and its secret. */
  let checksum: string;
  const SECRET = 'Kanary-of-nodes';

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-keys-'));
    const schema = '$schema: x\nparameters:\n  pw: {type: secureString, defaultValue: x}\n';
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: `${schema}resources: []\n` } });
    await publishConfiguration(hawser.admin, 'free', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    path = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'web')}`;
    node = await hawser.registerNode('web-01.example.org');
    free = await hawser.registerNode('free-01.example.org');
    await assign(hawser, node, 'web');
    await assign(hawser, free, 'free');
    await save(hawser.admin, '1.0.0', SECRET);
    checksum = await checksumOf(node.client, node);
  });
  after(() => rmSync(folder, { recursive: true }));

  const draft = (client: Client, version: string, secret: string) =>
    client.put(path, { version, content: `parameters:\n  pw: ${secret}\n` });
  async function save(client: Client, version: string, secret: string): Promise<string> {
    await ok(201, draft(client, version, secret));
    await ok(200, client.put(`${path}/versions/${version}/publish`));
    const { content } = await ok(200, client.get(`${path}/versions/${version}`));
    return sealedKeyId(/ENC\[[^\]]+\]/.exec(content)?.[0] ?? '') ?? content;
  }
  const ask = (client: Client, { nodeId }: NodeUnderTest) =>
    client.get(`/api/v1/nodes/${nodeId}/configuration/checksum`);
  const checksumOf = async (client: Client, each: NodeUnderTest): Promise<string> =>
    (await ok(200, ask(client, each))).checksum;
  const keyFile = (name = '') => join(name === '' ? hawser.folder : join(folder, name), 'data/secrets.key');

  /** Serves the folder of that name, and asks it as the two nodes and as an administrator. */
  async function serving(
    name: string,
    work: (who: Record<'node' | 'free' | 'admin', Client>) => Promise<void>,
  ) {
    const server = await spawnHawser(join(folder, name));
    const target = await server.listening();
    const clients = [
      makeClient(target, node.identity),
      makeClient(target, free.identity),
      makeClient(target),
    ];
    const [asNode, asFree, plain] = clients as [Client, Client, Client];
    try {
      await work({ node: asNode, free: asFree, admin: await asAdmin(plain) });
    } finally {
      for (const client of clients) client.close();
      server.child.kill('SIGTERM');
      await server.ended;
    }
  }

  it('notice nothing of a rotation, until whose reload no secret is stored', async () => {
    const [former = ''] = linesOf(keyFile()).map(idOf);
    const { code, stderr } = await runHawser(hawser.folder, {}, ['rotate-secrets-key']);
    expect(code, stderr).to.equal(0);
    const [id = ''] = linesOf(keyFile()).map(idOf);
    const refusal = await expectProblem(draft(hawser.admin, '1.1.0', 'other'), 503, 'secret_key_missing');
    expect(refusal.json).to.include({ keyId: id });
    expect(refusal.headers).to.have.property('retry-after');
    expect(await checksumOf(node.client, node)).to.equal(checksum);
    expect(await hawser.server.reloadTls()).to.deep.equal([]);
    expect(await checksumOf(node.client, node)).to.equal(checksum);
    expect(await save(hawser.admin, '1.1.0', 'other')).to.equal(id);
    expect(await checksumOf(node.client, node)).to.not.equal(checksum);
    expect(await save(hawser.admin, '1.2.0', SECRET)).to.be.oneOf([former, id]);
    expect(await checksumOf(node.client, node)).to.equal(checksum);
  });

  it('are refused once a reload takes their key away, whatever is in memory; on PostgreSQL the keys stay', async () => {
    const kept = readFileSync(keyFile());
    const bundle = () => node.client.get(`/api/v1/nodes/${node.nodeId}/configuration/bundle`);
    await ok(200, ask(node.client, node));
    expect((await bundle()).status).to.equal(200);
    writeFileSync(keyFile(), `${newKeyLine()}\n`);
    try {
      const faults = await hawser.server.reloadTls();
      if (ENGINE === 'postgres') {
        expect(faults).to.have.length(1);
        await ok(200, ask(node.client, node));
      } else {
        expect(faults).to.deep.equal([]);
        await expectProblem(ask(node.client, node), 503, 'secret_key_missing');
        await expectProblem(bundle(), 503, 'secret_key_missing');
        await expectProblem(draft(hawser.admin, '1.3.0', 'other'), 503, 'secret_key_missing');
      }
      await ok(200, ask(free.client, free));
    } finally {
      writeFileSync(keyFile(), kept);
    }
    expect(await hawser.server.reloadTls()).to.deep.equal([]);
    expect(await checksumOf(node.client, node)).to.equal(checksum);
  });

  it('get the same after a backup without keys, once the key file is back', async () => {
    const archive = join(folder, 'archive.zip');
    for (const [place, words] of [
      [hawser.folder, ['backup', archive]],
      [join(folder, 'back'), ['restore', archive]],
    ] as const) {
      const { code, stderr } = await runHawser(place, {}, words);
      expect(code, stderr).to.equal(0);
    }
    cpSync(join(folder, 'back'), join(folder, 'lost'), { recursive: true });
    copyFileSync(keyFile(), keyFile('back'));
    await serving('back', async (who) => {
      expect(await checksumOf(who.node, node)).to.equal(checksum);
      await ok(200, who.node.get(`/api/v1/nodes/${node.nodeId}/configuration/bundle`));
    });
  });

  itOnSqlite('that lack their key keep what they have, and all others go on', async () => {
    await serving('lost', async (who) => {
      const { json } = await expectProblem(ask(who.node, node), 503, 'secret_key_missing');
      expect(linesOf(keyFile()).map(idOf)).to.include(json.keyId);
      await ok(200, ask(who.free, free));
      await expectProblem(draft(who.admin, '2.0.0', 'x'), 503, 'secret_key_missing');
      await ok(201, who.admin.put(path, { version: '2.0.1', content: 'parameters: {}\n' }));
    });
    expect(existsSync(keyFile('lost'))).to.equal(false);
  });

  itOnSqlite('whose key is lost for good get their secrets once these are set again', async () => {
    const { code, stderr } = await runHawser(join(folder, 'lost'), {}, ['rotate-secrets-key']);
    expect(code, stderr).to.equal(0);
    await serving('lost', async (who) => {
      await expectProblem(ask(who.node, node), 503, 'secret_key_missing');
      await save(who.admin, '1.9.0', SECRET);
      expect(await checksumOf(who.node, node)).to.not.equal(checksum);
      const { bytes } = await who.node.get(`/api/v1/nodes/${node.nodeId}/configuration/bundle`);
      const files = await unzip(bytes);
      const parameters = files.find((file) => file.path === 'parameters.yaml');
      expect(parameters?.content.toString('utf8')).to.include(SECRET);
    });
  });
});
