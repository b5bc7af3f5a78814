// full: PostgreSQL
/** Two servers on one database of which one lacks the key of secrets of the other: what each answers, and how that ends. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { newKeyLine, secretKey } from '../../src/lib/sealed-text.ts';
import { SETS } from '../support/change-sets.ts';
import { type Client, makeClient } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { asAdmin, publishConfiguration } from '../support/hawser.ts';
import { configurationId } from '../support/parameter-files.ts';
import { pushFolder } from '../support/parameter-folders.ts';
import { newDatabase, type TestDatabase } from '../support/postgres.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { runHawser, type Spawned, spawnHawser } from '../support/spawned.ts';

const SCHEMA = '$schema: x\nparameters: {pw: {type: secureString}, port: {type: int}}\nresources: []\n';
const SECRET = 'parameters:\n  pw: of-the-shop\n';

describeOnPostgres('of two servers one lacks the key of secrets of the other', function (this: Mocha.Suite) {
  let database: TestDatabase;
  const folders: string[] = [];
  const servers: Spawned[] = [];
  const admins: Client[] = [];
  let series: string;

  const keyFile = (at: number) => join(folders[at] ?? '', 'data/secrets.key');
  const lineOf = (at: number) => readFileSync(keyFile(at), 'utf8').trim().split('\n')[0] ?? '';
  const idOf = (line: string) => secretKey(Buffer.from(line, 'base64')).id;
  const settings = () => ({ HAWSER_DATABASE_URL: database.url });
  const save = (admin: Client, version: string, content = SECRET) => admin.put(series, { version, content });

  before(async () => {
    database = await newDatabase();
    for (let at = 0; at < 2; at += 1) {
      const folder = mkdtempSync(join(tmpdir(), 'hawser-two-keys-'));
      folders.push(folder);
      const server = await spawnHawser(folder, settings());
      servers.push(server);
      admins.push(await asAdmin(makeClient(await server.listening())));
    }
    const [first] = admins as [Client];
    await publishConfiguration(first, 'shop', { '1.0.0': { [MAIN]: SCHEMA } });
    series = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(first, 'shop')}`;
  });
  after(async () => {
    for (const { child } of servers) child.kill('SIGKILL');
    await Promise.all(servers.map(({ ended }) => ended));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    await database.drop();
  });

  it('neither stores a secret then, by any way, and both store what is none', async () => {
    const [mine, other] = [idOf(lineOf(0)), idOf(lineOf(1))];
    expect(mine).to.not.equal(other);
    for (const [at, admin] of admins.entries()) {
      const refused = [
        save(admin, `1.${at}.0`),
        admin.post(`${series}/encrypt`, { scopeValue: null, path: '/parameters/pw', value: 'x' }),
        pushFolder(admin, { 'parameters/shop/Default.yaml': SECRET }),
        pushFolder(admin, { 'parameters/shop/Default.yaml': SECRET }, { publish: true }),
      ];
      for (const asked of refused) {
        const { json, headers } = await expectProblem(asked, 503, 'secret_key_missing');
        expect(json.keyId).to.equal(at === 0 ? mine : other);
        expect(json.detail).to.not.include('of-the-shop');
        expect(headers).to.have.property('retry-after');
      }
      await ok(201, save(admin, `1.${at}.5`, 'parameters:\n  port: 1\n'));
    }
    const listed = await ok(200, admins[1]?.get('/api/v1/configurations/shop/parameter-files') as never);
    expect(listed.map(({ version }: { version: string }) => version)).to.have.members(['1.0.5', '1.1.5']);
  });

  it('both do once each has the key of the other, and each opens what the other has encrypted', async () => {
    const lines = [lineOf(0), lineOf(1)];
    for (const at of [0, 1]) {
      writeFileSync(keyFile(at), `${lines[at]}\n${lines[1 - at]}\n`);
      servers[at]?.child.kill('SIGHUP');
    }
    await eventually(async () => expect((await save(admins[0] as Client, '2.0.0')).status).to.equal(201));
    await ok(201, save(admins[1] as Client, '2.1.0'));
    for (const [at, version] of ['2.1.0', '2.0.0'].entries()) {
      const admin = admins[at] as Client;
      const { content } = await ok(200, admin.get(`${series}/versions/${version}`));
      expect(content).to.include('ENC[');
      const published = await ok(200, admin.put(`${series}/versions/${version}/publish`));
      expect(published.status).to.equal('Published');
    }
  });

  it('neither proposes to encrypt by a key that the other lacks, and the drafts are as before', async () => {
    const [, second] = admins as [Client, Client];
    // It has encrypted the newest file.
    const before = await ok(200, second.get(`${series}/versions?take=1000`));
    const [former, line] = [readFileSync(keyFile(1), 'utf8'), newKeyLine()];
    const reload = (keys: string) => {
      writeFileSync(keyFile(1), keys);
      servers[1]?.child.kill('SIGHUP');
    };
    reload(`${line}\n${former}`);
    await eventually(async () => {
      const { json } = await expectProblem(second.post(`${SETS}/rekey`, {}), 503, 'secret_key_missing');
      expect(json.keyId).to.equal(idOf(line));
    });
    expect(await ok(200, second.get(`${series}/versions?take=1000`))).to.deep.equal(before);
    reload(former);
    await eventually(async () => expect((await save(second, '2.2.0')).status).to.equal(201));
  });

  it('none starts without the key that encrypts, and says which that is', async () => {
    // The server that has encrypted last has named its own.
    const named = (await ok(200, (admins[0] as Client).get(`${series}/versions/2.1.0`))).content;
    const [, id = ''] = /ENC\[([0-9a-f]{16}),/.exec(named) ?? [];
    const lacking = id === idOf(lineOf(0)) ? 1 : 0;
    const own = lineOf(lacking);
    servers[lacking]?.child.kill('SIGTERM');
    await servers[lacking]?.ended;
    writeFileSync(keyFile(lacking), `${own}\n`);
    const { code, stderr } = await runHawser(folders[lacking] ?? '', settings());
    expect(code).to.equal(78);
    expect(stderr).to.include('HAWSER_SECRETS_KEY_FILE');
    // The other one goes on.
    await ok(200, (admins[1 - lacking] as Client).get(`${series}/versions/2.0.0`));
  });
});
