import { expect } from 'chai';
import { passwordFault } from '../../../src/domain/password-rules.ts';
import { DECOY, hashPassword, verifyPassword } from '../../../src/security/passwords.ts';

describe('password hashes', () => {
  it('fit their password, in every way to type it, and no other', async () => {
    const hash = await hashPassword('grüße aus dem büro');
    expect(await verifyPassword('grüße aus dem büro'.normalize('NFD'), hash, 'a test')).to.equal(true);
    expect(await verifyPassword('gruesse aus dem buero', hash, 'a test')).to.equal(false);
  });

  it('are salted', async () => {
    const [one, other] = await Promise.all([hashPassword('the same twice'), hashPassword('the same twice')]);
    expect(one).to.not.equal(other);
  });

  it('cost for an unknown user what they cost for a known one', async () => {
    expect(await verifyPassword('whatever was typed', null, 'a test')).to.equal(false);
    const parameters = (hash: string) => Buffer.from(hash, 'base64').subarray(0, 16).toString('hex');
    expect(parameters(DECOY)).to.equal(parameters(await hashPassword('another password')));
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
