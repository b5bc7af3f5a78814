import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { toOptionalTimestamp, toTimestamp } from '../../../src/lib/clock.ts';
import { makePrivateFolder } from '../../../src/lib/folders.ts';
import { sha256Base64, sha256Hex } from '../../../src/lib/hash.ts';
import { isId, makeIdCounter, newId, newOrderedId, newSecret } from '../../../src/lib/ids.ts';
import { writeSecretFile } from '../../../src/lib/secret-file.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('times', () => {
  it('are written in UTC with milliseconds', () => {
    expect(toTimestamp(Date.UTC(2026, 10, 20, 9, 8))).to.equal('2026-11-20T09:08:00.000Z');
    expect(toOptionalTimestamp(null)).to.equal(null);
    expect(toOptionalTimestamp(0)).to.equal('1970-01-01T00:00:00.000Z');
  });
});

describe('ids and secrets', () => {
  it('are UUIDs in lower case', () => {
    expect(isId(newId())).to.equal(true);
    for (const wrong of ['', newId().toUpperCase(), `${newId()} `, newId().slice(1), `${newId()}\n`]) {
      expect(isId(wrong), wrong).to.equal(false);
    }
  });

  it('begin with their time where they are to stand in order', () => {
    const times = [0, 1, 1_000, Date.UTC(2026, 10, 20), Date.UTC(9999, 11, 31)];
    const ids = times.map(newOrderedId);
    for (const id of ids)
      expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([...ids].sort()).to.deep.equal(ids);
    expect(newOrderedId(1)).to.not.equal(newOrderedId(1));
  });

  it('are counted where they only have to differ, each maker on its own', () => {
    const makers = [makeIdCounter(), makeIdCounter()];
    const ids = makers.flatMap((next) => Array.from({ length: 1_000 }, next));
    for (const id of ids)
      expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).to.equal(2_000);
  });

  it('hold 256 random bits, safe in headers and cookies', () => {
    const secrets = Array.from({ length: 100 }, () => newSecret('pat_'));
    for (const secret of secrets) expect(secret).to.match(/^pat_[A-Za-z0-9_-]{43}$/);
    expect(new Set(secrets).size).to.equal(100);
  });
});

describe('digests', () => {
  it('are SHA-256', () => {
    const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    expect(sha256Hex('')).to.equal(empty);
    expect(sha256Base64(Buffer.alloc(0))).to.equal(Buffer.from(empty, 'hex').toString('base64'));
    expect(sha256Hex('ü')).to.equal(sha256Hex(Buffer.from('ü')));
  });
});

describe('a private folder', () => {
  const folder = temporaryFolder();

  it('is made with those above it, for its owner alone, and taken as it is where it exists', async () => {
    const path = folder('a/b/c');
    await makePrivateFolder(path);
    for (const made of ['a', 'a/b', 'a/b/c']) {
      expect(statSync(folder(made)).mode & 0o777, made).to.equal(0o700);
    }
    await makePrivateFolder(path);
    await makePrivateFolder(folder());
  });

  it('is refused where a file stands', async () => {
    writeFileSync(folder('file'), '');
    for (const path of ['file', 'file/below']) {
      const code = await makePrivateFolder(folder(path)).catch((error) => error.code);
      expect(code, path).to.be.oneOf(['EEXIST', 'ENOTDIR']);
    }
  });
});

describe('a secret file', () => {
  const folder = temporaryFolder();

  it('is for its owner alone, whole, and replaces one of before', async () => {
    const path = folder('secret');
    writeFileSync(path, 'old', { mode: 0o644 });
    await writeSecretFile(path, 'new\n');
    expect(readFileSync(path, 'utf8')).to.equal('new\n');
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(readdirSync(folder())).to.deep.equal(['secret']);
  });

  it('leaves nothing behind where it cannot be written', async () => {
    const missing = folder('missing/secret');
    const error = await writeSecretFile(missing, 'x').catch((thrown: NodeJS.ErrnoException) => thrown.code);
    expect(error).to.equal('ENOENT');
    expect(existsSync(folder('missing'))).to.equal(false);
  });
});
