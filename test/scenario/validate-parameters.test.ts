// everyday: SQLite
import { expect } from 'chai';
import { auditedDuring } from '../support/audit.ts';
import type { Client, Reply } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, release } from '../support/configurations.ts';
import { everythingOf, ownTemporaryFolder } from '../support/disk.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import {
  documentOf,
  filesOf,
  publishBlocks,
  schemaOf,
  uploadSchema,
  validated,
} from '../support/parameter-schemas.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';

describe('somebody asks whether a document of parameters is valid', () => {
  let hawser: Hawser;
  let temporary: ReturnType<typeof ownTemporaryFolder>;
  let admin: Client;

  before(async () => {
    // Other tests run meanwhile, and make folders of their own in the shared one.
    temporary = ownTemporaryFolder();
    hawser = await startHawser();
    admin = hawser.admin;
    await publishBlocks(admin, 'web', {
      '1.0.0': {
        port: { type: 'int', minValue: 1, maxValue: 65_535 },
        name: { type: 'string', minLength: 2, maxLength: 3, defaultValue: 'abc' },
        key: { type: 'secureString', allowedValues: ['top-secret-value'], defaultValue: 'top-secret-value' },
        blob: { type: 'secureObject', defaultValue: {} },
        color: { type: 'string', allowedValues: ['red', 'blue'], defaultValue: 'red' },
      },
    });
    // dsc has no floats, so no entry point declares one.
    await ok(200, uploadSchema(admin, 'web', '2.0.0', { size: { type: 'float' } }));
    await release(admin, 'web', '2.0.0');
  });

  after(async () => {
    await hawser.close();
    temporary.remove();
  });

  const ask = (name: string, body: string | Buffer, type: string | null = 'application/yaml', query = '') => {
    const headers: Record<string, string> = type === null ? {} : { 'Content-Type': type };
    return admin.call('POST', `${schemaOf(name)}/validate${query}`, { headers, body });
  };
  const faults = async (name: string, values: object | string, query = '') =>
    (await validated(admin, name, values, query)).errors.map(({ path, code }) => `${path} ${code}`);

  it('and is told every fault, with its place in the document', async () => {
    const first = '?version=1.0.0';
    expect(await faults('web', { port: 80 }, first)).to.deep.equal([]);
    expect(await faults('web', { port: 80, name: 'ab', color: 'blue', blob: { a: 1 } }, first)).to.deep.equal(
      [],
    );
    const wrong = { port: 0, name: 'a', color: 'green', 'no/such~one': 1, blob: [] };
    expect(await faults('web', wrong, first)).to.deep.equal([
      ...['/parameters/port minimum', '/parameters/name min_length', '/parameters/color not_allowed'],
      ...['/parameters/no~1such~0one unknown_parameter', '/parameters/blob type'],
    ]);
    expect(await faults('web', {}, first)).to.deep.equal(['/parameters/port required']);
    expect(await faults('web', 'other: 1\n', first)).to.deep.equal([
      '/parameters required',
      '/parameters/port required',
    ]);
  });

  it('of one scope alone with partial, of the whole without', async () => {
    const values = { name: 'abc' };
    const asked: [query: string, ...faults: string[]][] = [
      ['?version=1.0.0', '/parameters/port required'],
      ['?version=1.0.0&partial=false', '/parameters/port required'],
      ['?version=1.0.0&partial=', '/parameters/port required'],
      ['?version=1.0.0&partial=true'],
      ['?partial=TRUE&version=1.0.0'],
    ];
    for (const [query, ...expected] of asked)
      expect(await faults('web', values, query), query).to.deep.equal(expected);
    expect(await faults('web', { name: 'a', port: 'x' }, '?version=1.0.0&partial=true')).to.deep.equal([
      ...['/parameters/name min_length', '/parameters/port type'],
    ]);
    await expectInvalid(ask('web', 'parameters: {}', 'application/yaml', '?partial=maybe'), '/partial');
  });

  it('by the version named, else the highest published one, else the highest', async () => {
    expect(await faults('web', { size: 1.5 })).to.deep.equal([]);
    await ok(201, addVersion(admin, 'web', { version: '3.0.0' }, filesOf({ draft: { type: 'bool' } })));
    expect(await faults('web', { size: 1.5 })).to.deep.equal([]);
    expect(await faults('web', { draft: true }, '?version=3.0.0')).to.deep.equal([]);
    await ok(200, uploadSchema(admin, 'web', '4.0.0', { uploaded: { type: 'bool' } }));
    expect(await faults('web', { uploaded: true }, '?version=4.0.0')).to.deep.equal([]);
    await ok(201, create(admin, 'draft', {}, filesOf({ only: { type: 'bool' } })));
    expect(await faults('draft', { only: 1 })).to.deep.equal(['/parameters/only type']);
    for (const version of ['1.0.1', '01.0.0', 'nonsense']) {
      const unknown = ask('web', 'parameters: {}', 'application/yaml', `?version=${version}`);
      await expectProblem(unknown, 404, 'not_found', version);
    }
    await expectProblem(ask('nothing', 'parameters: {}'), 404, 'not_found');
  });

  it('and all are where there is no schema, whatever the mode', async () => {
    await ok(201, create(admin, 'free', {}, { files: { [MAIN]: '$schema: x\nresources: []\n' } }));
    for (const mode of ['Strict', 'Warn', 'None']) {
      await ok(200, admin.put(`${CONFIGURATIONS}/free/settings`, { parameterValidationMode: mode }));
      await ok(200, admin.put(`${CONFIGURATIONS}/web/settings`, { parameterValidationMode: mode }));
      expect(await faults('free', { anything: [1, { goes: null }] }), mode).to.deep.equal([]);
      expect(await faults('free', { anything: 1 }, '?version=1.0.0'), mode).to.deep.equal([]);
      expect(await faults('web', { size: 'x' }), mode).to.deep.equal(['/parameters/size type']);
    }
  });

  it('and a caller may ask whether there is a schema without being refused', async () => {
    await ok(201, create(admin, 'plain', {}, { files: { [MAIN]: '$schema: x\nresources: []\n' } }));
    expect(await admin.get(`${schemaOf('plain')}?optional=true`)).to.include({ status: 204, text: '' });
    expect(await ok(200, admin.get(`${schemaOf('web')}?optional=true`))).to.have.property('properties');
    await expectProblem(admin.get(`${schemaOf('plain')}?optional=true&version=9.0.0`), 404, 'not_found');
  });

  it('to the digit of a number', async () => {
    const block = (max: string) =>
      `parameters: {n: {type: int, maxValue: ${max}}, f: {type: float}, s: {type: string}}`;
    await ok(201, create(admin, 'digits'));
    await ok(200, uploadSchema(admin, 'digits', '1.0.0', block('9007199254740993')));
    const verdicts: [values: string, ...faults: string[]][] = [
      ['{n: 9007199254740993, f: 1, s: "1"}'],
      ['{n: 9007199254740994, f: 1, s: "1"}', '/parameters/n maximum'],
      ['{n: -123456789012345678901234567890, f: -1e300, s: "1"}'],
      ['{n: "1", f: "1", s: 1}', '/parameters/n type', '/parameters/f type', '/parameters/s type'],
    ];
    for (const [values, ...expected] of verdicts)
      expect(await faults('digits', `parameters: ${values}`), values).to.deep.equal(expected);
    const json = '{"parameters": {"n": 9007199254740994, "f": 1, "s": "1"}}';
    expect((await ok(200, ask('digits', json, 'application/json'))).errors[0].code).to.equal('maximum');
  });

  it('in JSON or YAML, by its media type', async () => {
    const values = { size: 1.5 };
    const yaml = 'parameters:\n  size: 1.5 # so much\n';
    const good: [type: string, body: string][] = [
      ['application/json', documentOf(values)],
      ['Application/JSON; charset=utf-8', documentOf(values)],
      ['application/yaml', yaml],
      ['application/yaml; charset=utf-8', yaml],
      ['application/x-yaml', yaml],
      ['text/yaml', yaml],
      ['application/yaml', `\ufeff${yaml}`],
    ];
    for (const [type, body] of good)
      expect((await ok(200, ask('web', body, type))).isValid, type).to.equal(true);
    for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', '', null])
      await expectProblem(ask('web', yaml, type), 415, 'unsupported_media_type', String(type));
    const packed = { 'Content-Type': 'application/yaml', 'Content-Encoding': 'gzip' };
    const call = admin.call('POST', `${schemaOf('web')}/validate`, { headers: packed, body: yaml });
    await expectProblem(call, 415, 'unsupported_media_type');
  });

  it('and is refused, with line and column, what is no document', async () => {
    const bomb = ['a: &a [x]', ...Array.from({ length: 40 }, (_, n) => `b${n}: &b${n} [*a, *a]`)].join('\n');
    const bad: [type: string, body: string | Buffer, code: string, place: RegExp][] = [
      ['application/json', yaml(), 'invalid_json', /^Line 1, column 1:/],
      ['application/yaml', 'parameters:\n  a: 1\n  a: 2\n', 'duplicate_key', /^Line 3, column 3:/],
      ['application/yaml', Buffer.from([0x61, 0x3a, 0x20, 0xff]), 'invalid_utf8', /^Line 1, column 4:/],
      ['application/yaml', '', 'not_a_mapping', /^Line 1, column 1:/],
      ['application/json', '[]', 'not_a_mapping', /^Line 1, column 1:/],
    ];
    for (const [type, body, code, place] of bad) {
      const what = body.toString().slice(0, 40);
      const reply = await expectProblem(ask('web', body, type), 400, 'validation_failed', what);
      expect(reply.json.errors, what).to.have.length(1);
      expect(`${reply.json.errors[0].code}`, what).to.equal(code);
      expect(reply.json.errors[0].message, what).to.match(place);
    }
    expect((await ask('web', bomb)).status).to.be.oneOf([200, 400]);
    const large = `parameters: {size: 1.5} # ${'x'.repeat(1024 * 1024)}`;
    await expectProblem(ask('web', large), 413, 'payload_too_large');
  });

  it('and what is no document is a verdict too, if the caller takes any text', async () => {
    const { isValid, errors } = await ok(200, ask('web', 'parameters: [', undefined, '?anyText=true'));
    expect(isValid).to.equal(false);
    expect(errors).to.have.lengthOf(1);
    expect(errors[0].code).to.equal('invalid_yaml');
    expect(errors[0].message).to.match(/^Line 1, column \d+: /);
    expect(await faults('web', { port: 0 }, '?version=1.0.0&anyText=true')).to.deep.equal([
      '/parameters/port minimum',
    ]);
  });

  it('without a trace, and no secret comes back', async () => {
    const before = await everythingOf(hawser);
    const secret = 'another-secret-value';
    let reply: Reply | undefined;
    const entries = await auditedDuring(hawser, async () => {
      const body = documentOf({ port: 1, key: secret, blob: secret });
      reply = await ask('web', body, 'application/json', '?version=1.0.0');
    });
    expect(entries).to.deep.equal([]);
    expect(reply?.json.errors.map(({ code }: { code: string }) => code)).to.deep.equal([
      'not_allowed',
      'type',
    ]);
    expect(reply?.text).to.not.match(/secret-value/);
    expect(hawser.log()).to.not.match(/secret-value/);
    expect((await admin.get(`${schemaOf('web')}?version=1.0.0`)).text).to.not.match(/secret-value/);
    expect(await everythingOf(hawser)).to.deep.equal(before);
  });
});

const yaml = () => 'parameters: {}\n';
