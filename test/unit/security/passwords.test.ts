import { createHook } from 'node:async_hooks';
import { pbkdf2Sync } from 'node:crypto';
import { expect } from 'chai';
import * as scryptModule from 'scrypt-kdf';
import { passwordFault } from '../../../src/domain/password-rules.ts';
import { importedPasswordHash, readImportedHash } from '../../../src/security/imported-passwords.ts';
import { checkPassword, hashPassword, verifyPassword } from '../../../src/security/passwords.ts';

type Scrypt = { -readonly [name in keyof typeof scryptModule]: (typeof scryptModule)[name] };
const scrypt = (scryptModule as unknown as { default: Scrypt }).default;

/** Tells of each hash of scrypt that is computed during the work, by the logarithm of its N. */
async function watchingScrypt(tell: (logN: number) => void, during: () => Promise<void>): Promise<void> {
  const { kdf, verify } = scrypt;
  scrypt.kdf = (passphrase, parameters) => {
    tell(parameters.logN);
    return kdf(passphrase, parameters);
  };
  scrypt.verify = (key, passphrase) => {
    tell(scrypt.viewParams(key).logN);
    return verify(key, passphrase);
  };
  try {
    await during();
  } finally {
    Object.assign(scrypt, { kdf, verify });
  }
}

describe('password hashes', () => {
  /** The sum of scrypt's N over all hashes that a check computes, with a password that is wrong. */
  async function workOf(hash: string | null): Promise<number> {
    let work = 0;
    await watchingScrypt(
      (logN) => (work += 2 ** logN),
      async () => {
        expect(await verifyPassword('a wrong password', hash, 'a test')).to.equal(false);
      },
    );
    return work;
  }

  it('fit their password, in every way to type it, and no other', async () => {
    const hash = await hashPassword('grüße aus dem büro');
    expect(await verifyPassword('grüße aus dem büro'.normalize('NFD'), hash, 'a test')).to.equal(true);
    expect(await verifyPassword('gruesse aus dem buero', hash, 'a test')).to.equal(false);
  });

  it('are salted', async () => {
    const [one, other] = await Promise.all([hashPassword('the same twice'), hashPassword('the same twice')]);
    expect(one).to.not.equal(other);
  });

  it('say what they cost, and those that an earlier release made at another cost fit too', async () => {
    const parametersOf = (hash: string) => scrypt.viewParams(Buffer.from(hash, 'base64'));
    expect(parametersOf(await hashPassword('a password'))).to.deep.equal({ logN: 15, r: 8, p: 3 });
    const dear = Buffer.from(await scrypt.kdf('a password', { logN: 18, r: 8, p: 3 })).toString('base64');
    expect(await verifyPassword('a password', dear, 'a test')).to.equal(true);
    expect(await verifyPassword('another one', dear, 'a test')).to.equal(false);
  });

  it('are checked with the same work for a user and an unknown one', async () => {
    for (const hash of [await hashPassword('a password'), null]) expect(await workOf(hash)).to.equal(2 ** 15);
  });
});

describe('password hashes of another server', () => {
  const SALT = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
  const ask = { source: 'a test', mayBeImported: true };

  const importedOf = (password: string) =>
    importedPasswordHash(SALT, pbkdf2Sync(password, SALT, 100_000, 32, 'sha256'));

  it('are stored with their salt, and told from ours', async () => {
    const stored = importedOf('a password');
    expect(stored).to.match(/^pbkdf2-sha256\$100000\$AAECAwQFBgcICQoLDA0ODw==\$[A-Za-z0-9+/]{43}=$/);
    expect(readImportedHash(stored)?.salt).to.deep.equal(SALT);
    expect(readImportedHash(await hashPassword('a password'))).to.equal(null);
    expect(() => importedPasswordHash(SALT.subarray(1), Buffer.alloc(32))).to.throw(RangeError, 'salt');
    expect(() => importedPasswordHash(SALT, Buffer.alloc(20))).to.throw(RangeError, 'hash');
  });

  it('fit their password, give one of ours for it, and fit no other', async () => {
    // Computed by another program: Python's hashlib.pbkdf2_hmac.
    const stored = importedPasswordHash(
      SALT,
      Buffer.from('24fd385ec43820b87cf089fdc2f65ee4119bfcfed3d360003398fee9fa785c1e', 'hex'),
    );
    const { matches, replacement } = await checkPassword('grüße aus dem büro', stored, ask);
    expect(matches).to.equal(true);
    expect(readImportedHash(replacement ?? '')).to.equal(null);
    expect(await verifyPassword('grüße aus dem büro', replacement, 'a test')).to.equal(true);
    expect(await verifyPassword('gruesse aus dem buero', replacement, 'a test')).to.equal(false);
    const wrong = await checkPassword('gruesse aus dem buero', stored, ask);
    expect(wrong).to.deep.equal({ matches: false, replacement: null });
  });

  it('count the password as it was typed, and not in another form', async () => {
    const typed = 'büro'.normalize('NFD');
    expect(await verifyPassword(typed, importedOf(typed), 'a test')).to.equal(true);
    expect(await verifyPassword(typed.normalize('NFC'), importedOf(typed), 'a test')).to.equal(false);
  });

  it('are not guessed by what an unknown user is checked against', async () => {
    for (const hash of [null, importedPasswordHash(SALT, Buffer.alloc(32))])
      expect(await checkPassword('', hash, ask)).to.deep.equal({ matches: false, replacement: null });
  });

  it('take the same work as ours and as unknown users, while there are any', async () => {
    const hashes = [importedOf('a password'), await hashPassword('a password'), null];
    let work: string[] = [];
    const watch = createHook({
      init(_id, type) {
        if (type === 'PBKDF2REQUEST') work.push('pbkdf2');
      },
    }).enable();
    const check = async () => {
      for (const password of ['a password', 'a wrong password']) {
        for (const hash of hashes) {
          work = [];
          await checkPassword(password, hash, ask);
          expect(work, `${hash}`).to.deep.equal(['pbkdf2', 'scrypt 15']);
        }
      }
      work = [];
      for (const hash of [await hashPassword('a password'), null])
        await checkPassword('a password', hash, { ...ask, mayBeImported: false });
      expect(work, 'once there are none').not.to.include('pbkdf2');
    };
    await watchingScrypt((logN) => work.push(`scrypt ${logN}`), check).finally(() => watch.disable());
  });
});

describe('password rules', () => {
  it('take long ones of any script', () => {
    const scripts = ['correct horse battery', '密码密码密码密码密码密码一二', '🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵🐔🐧'];
    for (const good of [...scripts, 'x1'.repeat(128), 'x'.repeat(12), 'x'.repeat(256)])
      expect(passwordFault(good, 'admin'), good).to.equal(null);
  });

  it('refuse short, long, common and obvious ones', () => {
    const bad = ['', 'eleven-char', 'password1234', 'PASSWORD1234', '111111111111', 'some.body@example'];
    for (const password of [...bad, 'x1'.repeat(129)])
      expect(passwordFault(password, 'Some.Body@Example'), password).to.be.a('string');
  });

  it('count as hashed: what looks long may be short', () => {
    // Eight letters, each with its accent as a character of its own.
    expect(passwordFault(`${'e\u0301'.repeat(6)}ab`, 'admin')).to.be.a('string');
  });
});
