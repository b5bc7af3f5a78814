import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ConfigError, readConfig } from '../../../src/config.ts';
import type { Database } from '../../../src/db/database.ts';
import { openPostgres } from '../../../src/db/postgres/open.ts';
import { noteServer } from '../../../src/db/servers.ts';
import { openSqlite } from '../../../src/db/sqlite/open.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLog } from '../../../src/lib/log.ts';
import { evidenceOf, newKeyLine, secretKey } from '../../../src/lib/sealed-text.ts';
import { rotateSecretsKey } from '../../../src/operations/rotate-secrets-key.ts';
import { holding } from '../../../src/resolve/held-keys.ts';
import { putNewKeyFirst } from '../../../src/security/secrets/key-file.ts';
import { SecretStore } from '../../../src/security/secrets/secret-store.ts';
import { failureOf, refusalBy, refusalOf } from '../../support/failures.ts';
import { newDatabase, type TestDatabase } from '../../support/postgres.ts';
import { temporaryFolder, temporarySqlite } from '../../support/temporary.ts';

const idOf = (line: string) => secretKey(Buffer.from(line, 'base64')).id;
const [one, two] = [newKeyLine(), newKeyLine()];
const BYTES = Buffer.from('parameters:\n  pw: x\n');

const storeOn = (database: Database, dataDir: string, secretsKeyFile: string | null = null) =>
  SecretStore.open({
    config: { dataDir, secretsKeyFile },
    database,
    clock: systemClock,
    log: createLog('silent'),
  });

describe('the keys of secrets', () => {
  const folder = temporaryFolder();
  const database = temporarySqlite();
  const file = () => folder('keys');
  const write = (...lines: string[]) => writeFileSync(file(), lines.map((line) => `${line}\n`).join(''));
  const open = () => storeOn(database(), folder(), file());
  const openOwn = () => storeOn(database(), folder());

  describe('in the data folder', () => {
    it('are made once, for their owner alone', async () => {
      const store = await openOwn();
      const path = folder('secrets.key');
      expect(readFileSync(path, 'utf8')).to.match(/^[A-Za-z0-9+/]{43}=\n$/);
      expect(statSync(path).mode & 0o777).to.equal(0o600);
      const again = await openOwn();
      expect(again.ids).to.deep.equal(store.ids).and.to.have.length(1);
    });

    it('are never made again once something is encrypted', async () => {
      const { id } = await (await openOwn()).sealingKey();
      writeFileSync(folder('lost'), readFileSync(folder('secrets.key')));
      writeFileSync(file(), '');
      const elsewhere = folder('elsewhere');
      const store = await storeOn(database(), elsewhere).catch((error) => error);
      expect(existsSync(`${elsewhere}/secrets.key`)).to.equal(false);
      expect(store.ids).to.deep.equal([]);
      expect(await store.missing()).to.deep.equal([id]);
      for (const work of [() => store.sealingKey(), async () => store.evidenceKey()]) {
        const refusal = await refusalOf(work());
        expect(refusal).to.include({ kind: 'unavailable', code: 'secret_key_missing' });
        expect(refusal.message).to.include(id);
      }
    });
  });

  describe('in a file of the settings', () => {
    it('decrypt, and the first one encrypts', async () => {
      write(two, one);
      const store = await open();
      expect((await store.sealingKey()).id).to.equal(idOf(two));
      expect(store.key(idOf(one))?.id).to.equal(idOf(one));
      expect(store.key('0123456789abcdef')).to.equal(null);
      expect(existsSync(folder('secrets.key'))).to.equal(false);
    });

    it('may have line endings of Windows, and one line at two places', async () => {
      writeFileSync(file(), `${two}\r\n${one}\r\n${two}`);
      expect((await open()).ids).to.deep.equal([idOf(two), idOf(one)]);
    });

    for (const [name, line, text] of [
      ['no file', 0, null],
      ['an empty file', 1, ''],
      ['31 bytes', 1, Buffer.alloc(31).toString('base64')],
      ['33 bytes', 2, `${one}\n${Buffer.alloc(33).toString('base64')}\n`],
      ['base64 of the web', 1, Buffer.alloc(32, 0xff).toString('base64url')],
      ['loose bits at the end', 1, `${Buffer.alloc(32).toString('base64').slice(0, -2)}B=`],
      ['an empty line', 2, `${one}\n\n${two}\n`],
      ['a comment', 3, `${one}\n${two}\n# old\n`],
    ] as const)
      it(`are refused with ${name}, and the line is named without its content`, async () => {
        if (text !== null) writeFileSync(file(), text);
        const error = await failureOf(open());
        expect(error).to.be.instanceOf(ConfigError);
        expect(error.message).to.include('HAWSER_SECRETS_KEY_FILE').and.to.include(file());
        if (line > 0) expect(error.message).to.include(`line ${line} `);
        for (const part of (text ?? '').split('\n').filter((each) => each.length > 5))
          expect(error.message).to.not.include(part);
      });

    it('are taken anew, and stay as they were after a fault', async () => {
      write(one);
      const store = await open();
      let told = 0;
      store.subscribe(async () => void told++);
      const { generation } = store;
      write(one, two);
      await store.reload();
      expect(store.ids).to.deep.equal([idOf(one), idOf(two)]);
      expect([told, store.generation > generation]).to.deep.equal([1, true]);
      writeFileSync(file(), 'nonsense');
      expect(await failureOf(store.reload())).to.be.instanceOf(ConfigError);
      expect(store.ids).to.deep.equal([idOf(one), idOf(two)]);
    });
  });

  describe('and evidence', () => {
    it('is made with the first secret, is the same after a restart, and lies nowhere in the clear', async () => {
      write(one);
      const store = await open();
      expect(store.evidence).to.equal(null);
      expect(refusalBy(() => store.evidenceKey())).to.include({ code: 'secret_key_missing' });
      await store.sealingKey();
      const evidence = evidenceOf(store.evidenceKey(), BYTES);
      expect(evidenceOf((await open()).evidenceKey(), BYTES)).to.equal(evidence);
      const row = await database().read.selectFrom('secret_state').selectAll().executeTakeFirstOrThrow();
      expect(row).to.include({ sealing_key_id: idOf(one) });
      expect(row.evidence_key).to.match(new RegExp(`^ENC\\[${idOf(one)},`));
    });

    it('outlives each rotation, after which the old key may go', async () => {
      write(one);
      const store = await open();
      await store.sealingKey();
      const evidence = evidenceOf(store.evidenceKey(), BYTES);
      write(two, one);
      await store.reload();
      expect(evidenceOf(store.evidenceKey(), BYTES)).to.equal(evidence);
      expect((await store.sealingKey()).id).to.equal(idOf(two));
      write(two);
      const later = await open();
      expect(evidenceOf(later.evidenceKey(), BYTES)).to.equal(evidence);
      expect(await later.missing()).to.deep.equal([idOf(one)]);
    });

    it('is known to a server that has not taken the new key yet, while it encrypts nothing', async () => {
      write(one);
      const other = await openSqlite(folder());
      try {
        const store = await storeOn(other, folder(), file());
        await store.sealingKey();
        const evidence = evidenceOf(store.evidenceKey(), BYTES);
        await rotateSecretsKey({ ...readConfig({}), dataDir: folder(), secretsKeyFile: file() }, 1);
        await other.changes.catchUp('now');
        expect(evidenceOf(store.evidenceKey(), BYTES)).to.equal(evidence);
        expect(await refusalOf(store.sealingKey())).to.include({ code: 'secret_key_missing' });
        await store.reload();
        expect((await store.sealingKey()).id)
          .to.equal(store.ids[0])
          .and.not.equal(idOf(one));
        expect(evidenceOf(store.evidenceKey(), BYTES)).to.equal(evidence);
      } finally {
        await other.close();
      }
    });

    it('is another one only where no key opens it, with the next secret', async () => {
      write(one);
      const store = await open();
      await store.sealingKey();
      const evidence = evidenceOf(store.evidenceKey(), BYTES);
      await database()
        .write.updateTable('secret_state')
        .set({ sealing_key_id: idOf(two) })
        .execute();
      write(two);
      await store.reload();
      // A thread is told the same as the server knows.
      for (const keys of [store, holding(store)])
        expect(refusalBy(() => keys.evidenceKey())?.data['keyId']).to.equal(idOf(one));
      await store.sealingKey();
      expect(evidenceOf(store.evidenceKey(), BYTES)).to.not.equal(evidence);
    });
  });

  it('are noted as used with the first text that another has encrypted', async () => {
    write(one, two);
    const store = await open();
    await store.noteUse([idOf(two)]);
    write(one);
    await store.reload();
    expect(await store.missing()).to.deep.equal([idOf(two)]);
    expect(store.evidence).to.not.equal(null);
  });

  it('keep out releases that know no secrets, from the first one on', async () => {
    await database().write.updateTable('oldest_release').set({ version: '0.2.0' }).execute();
    const oldest = async () =>
      (await database().read.selectFrom('oldest_release').select('version').executeTakeFirstOrThrow())
        .version;
    write(one);
    const store = await open();
    expect(await oldest()).to.equal('0.2.0');
    await store.sealingKey();
    expect(await oldest()).to.equal('0.3.0');
  });

  it('get a new first one in the file, which keeps its permissions', async () => {
    write(one);
    const [before] = [statSync(file()).mode];
    const keys = await putNewKeyFirst({ dataDir: folder(), secretsKeyFile: file() });
    expect(keys[1]?.id).to.equal(idOf(one));
    const lines = readFileSync(file(), 'utf8').trimEnd().split('\n');
    expect(lines.map(idOf)).to.deep.equal(keys.map(({ id }) => id));
    expect(statSync(file()).mode).to.equal(before);
  });
});

describe('the keys of secrets of several servers', () => {
  const folder = temporaryFolder();
  let place: TestDatabase;
  let databases: Database[] = [];
  beforeEach(async () => {
    place = await newDatabase('migrated');
  });
  afterEach(async () => {
    await Promise.all(databases.map((each) => each.close()));
    databases = [];
    await place.drop();
  });

  /** A server of its own, with a file of its own. */
  async function server(name: string, ...lines: string[]) {
    const database = await openPostgres(place.url);
    databases.push(database);
    const write = (...all: string[]) => writeFileSync(folder(name), all.map((line) => `${line}\n`).join(''));
    write(...lines);
    const store = await storeOn(database, folder(), folder(name));
    const show = async () => {
      const facts = { id: ID[name] ?? '', version: '0.3.0', host: name, secretKeyIds: store.ids };
      await noteServer(database.writeNow, facts);
    };
    store.subscribe(show);
    await show();
    return { store, database, write };
  }
  const ID: Record<string, string> = {
    a: '00000000-0000-4000-8000-00000000000a',
    b: '00000000-0000-4000-8000-00000000000b',
  };

  it('have one key of evidence, of which each hears', async () => {
    const [a, b] = [await server('a', one), await server('b', one)];
    await Promise.all([a.store.sealingKey(), b.store.sealingKey()]);
    await a.database.changes.catchUp('now');
    await b.database.changes.catchUp('now');
    expect(evidenceOf(b.store.evidenceKey(), BYTES)).to.equal(evidenceOf(a.store.evidenceKey(), BYTES));
    const c = await server('b', one);
    expect(evidenceOf(c.store.evidenceKey(), BYTES)).to.equal(evidenceOf(a.store.evidenceKey(), BYTES));
  });

  it('tell a server that has made nothing of the first secret of another', async () => {
    const [a, b] = [await server('a', one), await server('b', one)];
    await a.store.sealingKey();
    await b.database.changes.catchUp('now');
    expect(evidenceOf(b.store.evidenceKey(), BYTES)).to.equal(evidenceOf(a.store.evidenceKey(), BYTES));
  });

  it('must be in one file: a server without the key that encrypts does not start', async () => {
    await (await server('a', one)).store.sealingKey();
    const error = await failureOf(server('b', two));
    expect(error).to.be.instanceOf(ConfigError);
    expect(error.message).to.include(idOf(one));
    await server('b', two, one);
  });

  it('encrypt nothing while a server is seen that lacks the first one', async () => {
    const [a, b] = [await server('a', one), await server('b', two)];
    const refusal = await refusalOf(a.store.sealingKey());
    expect(refusal).to.include({ code: 'secret_key_missing' });
    expect(refusal.message).to.include(idOf(one)).and.to.include('server b');
    b.write(one);
    await b.store.reload();
    expect((await a.store.sealingKey()).id).to.equal(idOf(one));
  });

  it('are replaced without a pause: last in every file, and then first', async () => {
    const [a, b] = [await server('a', one), await server('b', one)];
    await a.store.sealingKey();
    for (const each of [a, b]) {
      each.write(one, two);
      await each.store.reload();
      expect((await each.store.sealingKey()).id).to.equal(idOf(one));
    }
    for (const each of [a, b]) {
      each.write(two, one);
      await each.store.reload();
      expect((await each.store.sealingKey()).id).to.equal(idOf(two));
    }
    for (const each of [a, b]) {
      each.write(two);
      await each.store.reload();
    }
    await b.database.changes.catchUp('now');
    expect(evidenceOf(b.store.evidenceKey(), BYTES)).to.equal(evidenceOf(a.store.evidenceKey(), BYTES));
  });

  it('encrypt nothing while a server of a release is seen that knows no secrets', async () => {
    const a = await server('a', one);
    const row = { version: '0.3.0', host: 'old', seen_at: new Date() };
    await a.database.write
      .insertInto('servers')
      .values({ id: '00000000-0000-4000-8000-00000000000c', ...row })
      .execute();
    expect(await refusalOf(a.store.sealingKey())).to.include({
      kind: 'unavailable',
      code: 'upgrade_incomplete',
    });
    expect(a.store.evidence).to.equal(null);
    await a.database.write.deleteFrom('servers').where('host', '=', 'old').execute();
    await a.store.sealingKey();
  });
});
