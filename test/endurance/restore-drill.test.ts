import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { Load, type Site, type Written } from '../support/backup-load.ts';
import { type Client, type Identity, makeClient, type Target } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { CONFIGURATIONS, MAIN } from '../support/configurations.ts';
import {
  ADMIN_PASSWORD,
  createKey,
  createToken,
  git,
  publishConfiguration,
  signIn,
} from '../support/hawser.ts';
import { ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { type Ended, runHawser, type Spawned, spawnHawser } from '../support/spawned.ts';
import { unzipTexts } from '../support/unzip.ts';

const SCOPES = [
  'nodes.read',
  'nodes.write',
  'nodes.assign-configuration',
  'registration-keys.manage',
  'reports.read',
  'configurations.create',
  'configurations.admin-override',
  'composite-configurations.create',
  'composite-configurations.admin-override',
  'parameters.admin-override',
];
const KINDS = ['configurations', 'composites', 'parameters'];

interface Node {
  nodeId: string;
  identity: Identity;
  checksum: string;
  files: Record<string, string>;
}

describe('a restore drill', function (this: Mocha.Suite) {
  this.timeout(300_000);
  let folder: string;
  let target: Target;
  let server: Spawned;
  let token: string;
  let site: Site;
  let nodes: Node[];
  let session: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-drill-'));
    server = await spawnHawser(folder);
    target = await server.listening();
    const client = makeClient(target);
    session = await signIn(client, 'admin', ADMIN_PASSWORD);
    token = await createToken(client, session, SCOPES);
    client.close();
    await using(admin, async (connected) => {
      const registrationKey = await createKey(connected, { maxUses: 10_000 });
      await publishConfiguration(connected, 'base', {
        '1.0.0': { [MAIN]: '$schema: x\nresources: []\n', 'a/b.txt': 'b' },
      });
      await publishConfiguration(connected, 'steady', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
      const id = (await ok(200, connected.get(`${CONFIGURATIONS}/steady`))).id;
      await ok(201, connected.put(parametersOf(id), { version: '1.0.0', content: 'parameters: {size: 1}' }));
      await ok(200, connected.put(`${parametersOf(id)}/versions/1.0.0/publish`));
      nodes = [
        await register('own.example.org', registrationKey, connected),
        await registerByRequest('issued.example.org', registrationKey, connected),
      ];
      const base = { name: 'base', id: (await ok(200, connected.get(`${CONFIGURATIONS}/base`))).id };
      await ok(201, connected.put(parametersOf(base.id), { version: '1.0.0', content: 'parameters: {}' }));
      const [reporter] = nodes;
      if (!reporter) throw new Error('no node');
      site = { target, token, registrationKey, reposDir: join(folder, 'repos'), base, reporter };
    });
  });

  after(async () => {
    server.child.kill('SIGKILL');
    await server.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  const admin = () => makeClient(target).with({ Authorization: `Bearer ${token}` });
  const parametersOf = (id: string) => `/api/v1/parameters/${DEFAULT_ID}/${id}`;
  const run = (...words: string[]): Promise<Ended> => runHawser(folder, {}, words);

  async function using<T>(open: () => Client, work: (client: Client) => Promise<T>): Promise<T> {
    const client = open();
    try {
      return await work(client);
    } finally {
      client.close();
    }
  }

  async function register(fqdn: string, registrationKey: string, connected: Client): Promise<Node> {
    const identity = await makeClientCertificate({ commonName: fqdn });
    const body = { registrationKey, fqdn };
    const { nodeId } = await using(
      () => makeClient(target, identity),
      (client) => ok(200, client.post('/api/v1/nodes/register', body)),
    );
    return assigned(nodeId, identity, connected);
  }

  /** With a certificate of the built-in authority. */
  async function registerByRequest(fqdn: string, registrationKey: string, connected: Client): Promise<Node> {
    const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=x'];
    const pem = execFileSync('openssl', ['req', '-new', ...options, '-keyout', '-'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [key = '', csr = ''] = pem.split(/(?=-----BEGIN CERTIFICATE REQUEST)/);
    const made = await ok(200, connected.post('/api/v1/nodes/register', { registrationKey, fqdn, csr }));
    return assigned(made.nodeId, { cert: made.certificate, key }, connected);
  }

  async function assigned(nodeId: string, identity: Identity, connected: Client): Promise<Node> {
    const path = `/api/v1/nodes/${nodeId}/configuration`;
    await ok(204, connected.put(path, { configurationName: 'steady' }));
    return { nodeId, identity, ...(await pull(nodeId, identity)) };
  }

  function pull(nodeId: string, identity: Identity) {
    return using(
      () => makeClient(target, identity),
      async (client) => {
        const { checksum } = await ok(200, client.get(`/api/v1/nodes/${nodeId}/configuration/checksum`));
        const bundle = await client.get(`/api/v1/nodes/${nodeId}/configuration/bundle`);
        return { checksum, files: await unzipTexts(bundle.bytes) };
      },
    );
  }

  async function expectThere(client: Client, write: Written): Promise<void> {
    const expectStatus = async (status: number, path: string) => {
      const { status: got, text } = await client.get(path);
      expect(got, `${path}: ${text}`).to.equal(status);
    };
    switch (write.what) {
      case 'version': {
        const path = `${CONFIGURATIONS}/${write.name}/versions/${write.version}`;
        expect((await ok(200, client.get(path))).status, path).to.equal('Published');
        const file = await client.get(`${path}/files/lib/own.txt`);
        expect(file.text).to.equal(`${write.name} ${write.version}`);
        return;
      }
      case 'withdrawn': {
        const shown = await ok(200, client.get(`${CONFIGURATIONS}/${write.name}/versions/${write.version}`));
        expect(shown.withdrawn).to.include({ by: 'admin', reason: `${write.name} is bad` });
        return;
      }
      case 'composite':
        return expectStatus(200, `/api/v1/composite-configurations/${write.name}`);
      case 'report':
        return expectStatus(200, `/api/v1/reports/${write.id}`);
      case 'deleted':
        return expectStatus(404, `${CONFIGURATIONS}/${write.name}`);
      case 'parameters': {
        const listed = await ok(200, client.get(`${parametersOf(site.base.id)}/versions?take=1000`));
        const found = listed.find(({ version }: { version: string }) => version === write.version);
        expect(found?.status, write.version).to.equal('Published');
        return;
      }
      case 'node': {
        const path = `/api/v1/nodes/${write.nodeId}/lcm-config`;
        await using(
          () => makeClient(target, write.identity),
          (node) => ok(200, node.get(path)),
        );
      }
    }
  }

  it('brings back all that was acknowledged before the backup, which was taken in the middle of the work', async () => {
    const archive = join(folder, 'backup.zip');
    const load = new Load(site);
    const kindsOf = (written: readonly Written[]) => new Set(written.map(({ what }) => what)).size;
    // The load is random, and some kinds of writes are rare in it.
    do await load.more(60);
    while (kindsOf(load.written) < 7);
    const before = [...load.written];
    const { code, stdout, stderr } = await run('backup', archive);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/^.*backup\.zip: the database and \d+ repositories with \d+ refs, \d+ bytes\n$/);
    await load.stop();
    // Else there was no middle.
    expect(load.written.length).to.be.greaterThan(before.length + 20);

    server.child.kill('SIGTERM');
    expect((await server.ended).code).to.equal(0);
    for (const name of ['data', 'repos']) rmSync(join(folder, name), { recursive: true });
    const restored = await run('restore', archive);
    expect(restored.code, restored.stderr).to.equal(0);
    for (const name of ['data', 'repos']) expectPrivate(join(folder, name));

    server = await spawnHawser(folder);
    const { port, ca } = await server.listening();
    expect(ca).to.equal(target.ca);
    target = { port, ca };
    await using(admin, async (client) => {
      for (const write of before) await expectThere(client, write);
    });
    for (const { nodeId, identity, checksum, files } of nodes)
      expect(await pull(nodeId, identity)).to.deep.equal({ checksum, files });
    expect(server.stdout()).not.to.contain('"level":"error"');
  });

  it('leaves whole repositories to stock git, and nothing for the doctor to find', async () => {
    for (const kind of KINDS) {
      for (const name of readdirSync(join(folder, 'repos', kind)))
        expect(git(join(folder, 'repos', kind, name), 'fsck', '--strict', '--no-dangling'), name).to.equal(
          '',
        );
    }
    const { code, stdout } = await run('doctor', '--json');
    expect(code, stdout).to.equal(0);
  });

  it('has the audit entry of each version that it has', () => {
    const database = new SqliteDatabase(join(folder, 'data/hawser.db'), { readonly: true });
    const told = database.prepare('SELECT details FROM audit_entries').pluck().all().join('\n');
    database.close();
    for (const kind of KINDS) {
      for (const name of readdirSync(join(folder, 'repos', kind))) {
        const repository = join(folder, 'repos', kind, name);
        const refs = git(repository, 'for-each-ref', '--format=%(refname)', 'refs/heads/draft', 'refs/tags');
        for (const ref of refs.trim().split('\n').filter(Boolean)) {
          const commit = git(repository, 'rev-parse', `${ref}^{commit}`).trim();
          const what = `${kind}/${name} ${ref}`;
          expect(told, what).to.contain(commit);
          if (ref.includes('/withdrawn/')) expect(told, what).to.contain(`${commit}","reason":`);
        }
      }
    }
  });

  it('ends the sessions of the time of the backup, and keeps the tokens', async () => {
    await using(
      () => makeClient(target).with({ Cookie: session }),
      async (client) => expect((await client.get('/api/v1/auth/me')).status).to.equal(401),
    );
    await using(admin, (client) => ok(200, client.get('/api/v1/nodes')));
  });

  it('goes on from the state that it restored', async () => {
    await using(admin, async (client) => {
      await publishConfiguration(client, 'afterwards', {
        '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
      });
      await ok(201, client.put(parametersOf(site.base.id), { version: '9.0.0', content: 'parameters: {}' }));
      await ok(200, client.put(`${parametersOf(site.base.id)}/versions/9.0.0/publish`));
      const again = { fields: { version: '3.0.0' }, files: { [MAIN]: '$schema: x\nresources: []\n' } };
      await ok(201, client.upload(`${CONFIGURATIONS}/steady/versions`, again));
      await ok(200, client.put(`${CONFIGURATIONS}/steady/versions/3.0.0/publish`));
    });
    const [node] = nodes;
    if (!node) throw new Error('no node');
    expect((await pull(node.nodeId, node.identity)).checksum).not.to.equal(node.checksum);
  });
});

/** Nothing of it for anybody but its owner, whatever it is. */
function expectPrivate(path: string): void {
  const stats = statSync(path);
  expect((stats.mode & 0o777).toString(8), path).to.equal(stats.isDirectory() ? '700' : '600');
  if (!stats.isDirectory()) return;
  for (const name of readdirSync(path)) expectPrivate(join(path, name));
}
