import { expect } from 'chai';
import * as scryptModule from 'scrypt-kdf';
import { SCRYPT_COST } from '../../../src/config.ts';
import { passwordFault } from '../../../src/domain/password-rules.ts';
import { hashPassword, setPasswordCost, verifyPassword } from '../../../src/security/passwords.ts';

type Scrypt = { -readonly [name in keyof typeof scryptModule]: (typeof scryptModule)[name] };
const scrypt = (scryptModule as unknown as { default: Scrypt }).default;

describe('password hashes', () => {
  // Another test file in this process may have left another cost.
  beforeEach(() => setPasswordCost(SCRYPT_COST.least));
  after(() => setPasswordCost(SCRYPT_COST.least));

  function hashAt(cost: number): Promise<string> {
    setPasswordCost(cost);
    return hashPassword('a password');
  }

  /** The sum of scrypt's N over all hashes that a check computes, with a password that is wrong. */
  async function workOf(hash: string | null): Promise<number> {
    const { kdf, verify } = scrypt;
    let work = 0;
    scrypt.kdf = (passphrase, parameters) => {
      work += 2 ** parameters.logN;
      return kdf(passphrase, parameters);
    };
    scrypt.verify = (key, passphrase) => {
      work += 2 ** scrypt.viewParams(key).logN;
      return verify(key, passphrase);
    };
    try {
      expect(await verifyPassword('a wrong password', hash, 'a test')).to.equal(false);
    } finally {
      Object.assign(scrypt, { kdf, verify });
    }
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

  it('say what they cost, and fit their password when another cost is set', async () => {
    const costOf = (hash: string) => Buffer.from(hash, 'base64')[7];
    const cheap = await hashAt(1);
    const dear = await hashAt(SCRYPT_COST.least);
    expect([costOf(cheap), costOf(dear)]).to.deep.equal([1, SCRYPT_COST.least]);
    for (const cost of [1, SCRYPT_COST.least]) {
      setPasswordCost(cost);
      for (const hash of [cheap, dear]) {
        expect(await verifyPassword('a password', hash, 'a test')).to.equal(true);
        expect(await verifyPassword('another one', hash, 'a test')).to.equal(false);
      }
    }
  });

  it('are checked with the same work for a user, an unknown one, and one with a cheaper hash from before', async () => {
    const hashes = [await hashAt(SCRYPT_COST.least), null, await hashAt(SCRYPT_COST.least - 2)];
    setPasswordCost(SCRYPT_COST.least);
    for (const hash of hashes) expect(await workOf(hash)).to.equal(2 ** SCRYPT_COST.least);
  });
});

describe('password rules', () => {
  it('take long ones of any script', () => {
    for (const good of [
      'correct horse battery',
      '密码密码密码密码密码密码一二',
      'x1'.repeat(128),
      '🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵🐔🐧',
      'x'.repeat(12),
      'x'.repeat(256),
    ]) {
      expect(passwordFault(good, 'admin'), good).to.equal(null);
    }
  });

  it('refuse short, long, common and obvious ones', () => {
    const bad = [
      '',
      'eleven-char',
      'x1'.repeat(129),
      'password1234',
      'PASSWORD1234',
      '111111111111',
      'some.body@example',
    ];
    for (const password of bad)
      expect(passwordFault(password, 'Some.Body@Example'), password).to.be.a('string');
  });

  it('count as hashed: what looks long may be short', () => {
    // Eight letters, each with its accent as a character of its own.
    expect(passwordFault(`${'e\u0301'.repeat(6)}ab`, 'admin')).to.be.a('string');
  });
});
