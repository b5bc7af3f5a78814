import { inspect } from 'node:util';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { createLog } from '../../../src/lib/log.ts';
import { Plaintext } from '../../../src/lib/plaintext.ts';
import {
  evidenceOf,
  newEvidenceKey,
  newKeyLine,
  open,
  openEvidenceKey,
  type SecretPlace,
  seal,
  sealEvidenceKey,
  sealedKeyId,
  secretKey,
} from '../../../src/lib/sealed-text.ts';
import { refusalBy } from '../../support/failures.ts';

const BYTES = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const key = secretKey(BYTES);
const other = secretKey(Buffer.alloc(32, 1));
const place: SecretPlace = {
  configurationId: '11111111-1111-4111-8111-111111111111',
  scopeTypeId: '00000000-0000-0000-0000-000000000001',
  ownerId: '',
  pointer: '/parameters/pw',
};

/** Made by the package `cryptography` of Python, with the nonce a0 a1 … ab; the value and the place are those of the tests. */
const VECTOR = {
  keyId: '996d7ee07bc7b673',
  json: '"paßwörd"',
  text: 'ENC[996d7ee07bc7b673,oKGio6SlpqeoqaqrxGgd7tq8wQkQAaXzJ1rg/lCMeTCyl2JMvC4Gpl+LVSHyVmffjwJzHX+8JOgpWqPZZztmaELwOl5hfit+hFClkHZkEI8oxFMIuY+a6mkz8ZU=]',
  evidence: 'cd32dffdacec3682d26d42b4814aa4f6d042912ff16012d119ec488994ec296a',
  evidenceKey:
    'ENC[996d7ee07bc7b673,oKGio6Slpqeoqaqr4R97KkLMBbhlYoDUAH3H2XerXheVsEVrmwkhgXiscgbCjw/5Os4DmLEh6PpHPX46]',
};
/** Texts under the right key and place that hold no JSON value in UTF-8: `no json`, and a byte that is none of a character. */
const NO_VALUES = [
  'ENC[996d7ee07bc7b673,oKGio6SlpqeoqaqriHdcRzakbJ9CRafzJ1rg/lCMeTCyl2JMvC4Gpl+LVSHyVmffjwJzHX+8JOgpWqPZZztmaELwOl5hfit+hFClkLiyRUQw0QesVMkPX2qNHXg=]',
  'ENC[996d7ee07bc7b673,oKGio6SlpqeoqaqrxOdeDWXrIp9CRafzJ1rg/lCMeTCyl2JMvC4Gpl+LVSHyVmffjwJzHX+8JOgpWqPZZztmaELwOl5hfit+hFClkKSV+i7fHHo/CZsNUlZNUwg=]',
];

const sealed = (json: string) => seal(key, place, new Plaintext(json));
const bytesOf = (text: string) => Buffer.from(text.split(',')[1]?.slice(0, -1) ?? '', 'base64');

describe('a sealed text', () => {
  it('is opened as another program wrote it', () => {
    expect(key.id).to.equal(VECTOR.keyId);
    expect(sealedKeyId(VECTOR.text)).to.equal(VECTOR.keyId);
    expect(open(key, place, VECTOR.text).reveal()).to.equal(VECTOR.json);
  });

  for (const json of ['"x"', 'true', '1.50', '12345678901234567890', '[1,"a",{"b":null}]', '{}', '"  "'])
    it(`gives back ${json} as it was`, () => {
      expect(open(key, place, sealed(json)).reveal()).to.equal(json);
    });

  it('is another one each time', () => {
    const texts = Array.from({ length: 50 }, () => sealed('true'));
    expect(new Set(texts.map((text) => bytesOf(text).subarray(0, 12).toString('hex'))).size).to.equal(50);
  });

  it('does not tell how long a short value is', () => {
    const size = (length: number) => bytesOf(sealed(`"${'x'.repeat(length - 2)}"`)).length - 12 - 16;
    expect([2, 63, 64, 65, 128, 129].map(size)).to.deep.equal([64, 64, 64, 128, 128, 192]);
  });

  it('does not open at another place, with another key, or changed', () => {
    const { text } = VECTOR;
    const moved: SecretPlace[] = [
      { ...place, configurationId: '22222222-2222-4222-8222-222222222222' },
      { ...place, scopeTypeId: '00000000-0000-0000-0000-000000000002' },
      { ...place, ownerId: '33333333-3333-4333-8333-333333333333' },
      { ...place, pointer: '/parameters/pin' },
    ];
    for (const each of moved)
      expect(refusalBy(() => open(key, each, text))).to.include({ code: 'secret_unreadable' });
    expect(refusalBy(() => open(other, place, text))).to.include({ code: 'secret_unreadable' });
    const changed = Buffer.from(bytesOf(text));
    for (let at = 0; at < changed.length; at += 1) {
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      const cut = `ENC[${VECTOR.keyId},${changed.toString('base64')}]`;
      expect(
        refusalBy(() => open(key, place, cut)),
        `byte ${at}`,
      ).to.include({ kind: 'conflict' });
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    }
  });

  it('that holds no JSON value is refused without a word of it', () => {
    for (const text of NO_VALUES) {
      const error = refusalBy(() => open(key, place, text));
      expect(error).to.include({ code: 'secret_unreadable' }).and.not.have.property('cause');
      expect(error?.message).to.include('/parameters/pw').and.not.include('no json');
    }
  });

  it('is told from other texts, and broken ones of its form open nowhere', () => {
    const inside = VECTOR.text;
    for (const text of [
      '',
      'ENC[]',
      'ENC[PKCS7,MIIB]',
      `${inside} `,
      ` ${inside}`,
      `${inside}\n`,
      `x${inside}`,
    ])
      expect(sealedKeyId(text), text).to.equal(null);
    expect(sealedKeyId(inside.replace('996d', '996D'))).to.equal(null);
    const loose = `${inside.slice(0, -3)}V=]`;
    for (const text of ['ENC[996d7ee07bc7b673,AAAA]', inside.replace('=]', ']'), loose]) {
      expect(sealedKeyId(text), text).to.equal(VECTOR.keyId);
      expect(
        refusalBy(() => open(key, place, text)),
        text,
      ).to.include({ code: 'secret_unreadable' });
    }
  });
});

describe('the key of evidence', () => {
  it('is kept encrypted, and makes the evidence that another program makes', () => {
    const kept = openEvidenceKey(key, VECTOR.evidenceKey);
    expect(kept && evidenceOf(kept, Buffer.from('parameters: {}\n'))).to.equal(VECTOR.evidence);
    const made = newEvidenceKey();
    const again = openEvidenceKey(other, sealEvidenceKey(other, made));
    expect(again && evidenceOf(again, BYTES)).to.equal(evidenceOf(made, BYTES));
  });

  it('opens with no other key, and from no text of a file', () => {
    expect(openEvidenceKey(other, VECTOR.evidenceKey)).to.equal(null);
    expect(openEvidenceKey(key, VECTOR.text)).to.equal(null);
    expect(refusalBy(() => open(key, place, VECTOR.evidenceKey))).to.include({ code: 'secret_unreadable' });
  });
});

describe('a secret in the clear', () => {
  const secret = new Plaintext('"Kanary"');

  it('is written by nothing that writes texts, JSON, logs or rows', () => {
    for (const write of [
      () => JSON.stringify({ secret }),
      () => `${secret}`,
      () => String(secret),
      () => [secret].join(),
      () => new SqliteDatabase(':memory:').prepare('select ?').get(secret),
      () => Buffer.from(secret as unknown as string),
    ])
      expect(write).to.throw(TypeError);
    const lines: string[] = [];
    const log = createLog('debug', { write: (line) => lines.push(line) });
    log.info({ secret, deep: [{ secret }] }, 'stored');
    log.error({ err: Object.assign(new Error('failed'), { secret }) }, 'stored');
    const said = [...lines, inspect(secret), inspect([{ secret }], { depth: 9, showHidden: true })].join('');
    expect(said).to.not.include('Kanary');
    expect({ ...secret }).to.deep.equal({});
    expect(structuredClone(Object.assign([], [secret]))).to.deep.equal([{}]);
    expect(secret.reveal()).to.equal('"Kanary"');
  });

  it('has keys that show no more', () => {
    const told = [JSON.stringify(key), inspect(key, { depth: 9, showHidden: true })].join('');
    for (const form of ['hex', 'base64', 'latin1'] as const)
      expect(told).to.not.include(BYTES.toString(form).slice(1, 20));
    expect(Buffer.from(newKeyLine(), 'base64')).to.have.length(32);
    expect(newKeyLine()).to.not.equal(newKeyLine());
  });
});
