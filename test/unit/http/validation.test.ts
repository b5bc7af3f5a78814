import { expect } from 'chai';
import { z } from 'zod';
import { choice, Duration, Flag, Instant, idsInPath, Paging } from '../../../src/http/schemas.ts';
import { validate } from '../../../src/http/validation.ts';
import { faultsBy } from '../../support/failures.ts';

const faultsOf = (schema: z.ZodType, input: unknown) => faultsBy(() => validate(schema, input, 'body'));
const pathsOf = (schema: z.ZodType, input: unknown) => faultsOf(schema, input).map((fault) => fault.path);

describe('validation', () => {
  const schema = z.strictObject({
    name: z.string(),
    list: z.array(z.strictObject({ n: z.int() })).optional(),
  });

  it('gives the parsed value', () => {
    expect(validate(schema, { name: 'x' }, 'body')).to.deep.equal({ name: 'x' });
  });

  it('names every fault by a JSON Pointer', () => {
    expect(pathsOf(schema, { list: [{ n: 1 }, { n: 'x' }] })).to.have.members(['/name', '/list/1/n']);
    expect(pathsOf(schema, [])).to.deep.equal(['']);
    expect(pathsOf(schema, null)).to.deep.equal(['']);
  });

  it('names members that do not exist, each for itself, escaped', () => {
    const input = JSON.parse('{"name":"x","a/b":1,"~":2,"~1":3,"":4,"__proto__":5,"list":[{"n":1,"m":2}]}');
    expect(pathsOf(schema, input)).to.have.members([
      ...['/a~1b', '/~0', '/~01', '/', '/__proto__', '/list/0/m'],
    ]);
    const [fault] = faultsOf(schema, { name: 'x', more: 1 });
    expect(fault).to.include({ code: 'unrecognized_keys' });
  });

  it('never repeats what was sent', () => {
    const faults = faultsOf(schema, { name: { secret: 'a-secret-value' }, list: 'a-secret-value' });
    expect(faults).to.have.length(2);
    expect(JSON.stringify(faults)).to.not.include('a-secret-value');
  });

  it('stops counting at a hundred', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`m${n}`, n]));
    expect(faultsOf(schema, { ...many, name: 'x' })).to.have.length(100);
  });
});

describe('paging', () => {
  it('begins at the first of a hundred', () => {
    expect(Paging.parse({})).to.deep.equal({ take: 100, skip: 0 });
    expect(Paging.parse({ take: '1000', skip: '7', other: 'x' })).to.deep.equal({ take: 1_000, skip: 7 });
  });
  for (const query of [
    ...[{ take: '0' }, { take: '1001' }, { take: '-1' }, { take: '1.0' }, { take: '' }, { take: ' 1' }],
    ...[{ take: ['1', '2'] }, { skip: '-1' }, { skip: 'x' }, { skip: '1e3' }, { skip: '9'.repeat(20) }],
  ]) {
    it(`refuses ${JSON.stringify(query)}`, () => expect(Paging.safeParse(query).success).to.equal(false));
  }
});

describe('the smaller schemas', () => {
  it('match enums without regard to case and give them as spelled', () => {
    const mode = choice('Monitor', 'Remediate');
    expect(mode.parse('monitor')).to.equal('Monitor');
    expect(mode.parse('REMEDIATE')).to.equal('Remediate');
    for (const wrong of ['', 'Moniter', 'toString', '__proto__', 0, null]) {
      expect(mode.safeParse(wrong).success, String(wrong)).to.equal(false);
    }
  });

  it('read a time with any offset, from 1970 to 9999', () => {
    expect(Instant.parse('2026-11-20T10:08:00+01:00')).to.equal(Date.UTC(2026, 10, 20, 9, 8));
    expect(Instant.parse('2026-11-20T09:08:00.1234567+00:00')).to.equal(Date.UTC(2026, 10, 20, 9, 8, 0, 123));
    for (const wrong of [
      ...['2026-11-20', '2026-11-20T09:08:00', '2026-02-30T00:00:00Z', '20.11.2026', '', 5, null],
      ...['9999-12-31T23:59:59-01:00', '1969-12-31T23:59:59Z', '2026-11-20T25:00:00Z'],
    ]) {
      expect(Instant.safeParse(wrong).success, String(wrong)).to.equal(false);
    }
  });

  it('read durations and flags', () => {
    expect(Duration.parse('PT15M')).to.deep.include({ text: '00:15:00' });
    expect(Duration.safeParse('00:00:00').success).to.equal(false);
    expect(Flag.parse('True')).to.equal(true);
    expect(Flag.parse('false')).to.equal(false);
    expect(Flag.safeParse('1').success).to.equal(false);
  });

  it('know an id in a path by its only form', () => {
    const id = '0b0e7a52-93f5-4b3e-9c8d-6d6d7b8a9f10';
    expect(idsInPath('id').safeParse({ id }).success).to.equal(true);
    for (const wrong of [id.toUpperCase(), `{${id}}`, id.replaceAll('-', ''), `${id}\n`, '']) {
      expect(idsInPath('id').safeParse({ id: wrong }).success, wrong).to.equal(false);
    }
  });
});
