// full: SQLite
import { expect } from 'chai';
import { auditedDuring } from '../support/audit.ts';
import type { Client } from '../support/client.ts';
import { addVersion, create, publish, versionsOf } from '../support/configurations.ts';
import { startHawser } from '../support/hawser.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { documentOf, filesOf, publishBlocks, schemaOf, uploadSchema } from '../support/parameter-schemas.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const text = { type: 'string', defaultValue: 'abcd' };
const port = { type: 'int', minValue: 1, maxValue: 65_535 };

describe('a schema of parameters', () => {
  const hawser = started(startHawser);
  let admin: Client;

  before(async () => {
    admin = hawser.admin;
  });

  const read = (name: string, query = '') => admin.get(schemaOf(name) + query);
  const tags = (name: string) => hawser.git(`parameters/${name}.git`, 'tag', '--list').trim().split('\n');

  it('is uploaded as a document and read as JSON Schema', async () => {
    await ok(201, create(admin, 'read'));
    const definitions = {
      port: { ...port, description: 'Where it listens' },
      color: { type: 'string', allowedValues: ['red', 'blue'], defaultValue: 'red' },
      key: { type: 'secureString', defaultValue: 'top-secret-value', minLength: 3 },
      list: { type: 'array', maxLength: 2 },
      __proto__x: { type: 'secureObject' },
      constructor: { type: 'float' },
    };
    const reply = await uploadSchema(admin, 'read', '1.0.0', definitions);
    expect(reply.json).to.deep.equal({
      version: '1.0.0',
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          parameters: {
            type: 'object',
            properties: {
              port: { type: 'integer', minimum: 1, maximum: 65_535, description: 'Where it listens' },
              color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
              key: { type: 'string', minLength: 3, writeOnly: true },
              list: { type: 'array', maxItems: 2 },
              __proto__x: { type: 'object', writeOnly: true },
              constructor: { type: 'number' },
            },
            required: ['port', 'list', '__proto__x', 'constructor'],
            additionalProperties: false,
          },
        },
        required: ['parameters'],
      },
    });
    expect(reply.status).to.equal(200);
    const stored = await read('read', '?version=1.0.0');
    expect(stored.json).to.deep.equal(reply.json.schema);
    expect(stored.headers['content-type']).to.match(/^application\/json/);
    const etag = String(stored.headers['etag']);
    expect((await admin.get(schemaOf('read'), { 'If-None-Match': etag })).status).to.equal(304);
    expect(tags('read')).to.deep.equal(['schema/v1.0.0']);
    const log = hawser.git('parameters/read.git', 'log', '--format=%an %s', 'schema/v1.0.0');
    expect(log).to.match(/^admin /);
    await hawser.restart();
    admin = hawser.admin;
    expect((await read('read')).json).to.deep.equal(reply.json.schema);
    expect((await read('read')).headers['etag']).to.equal(etag);
  });

  it('may be YAML or JSON, by the name of the file or its media type', async () => {
    await ok(201, create(admin, 'types'));
    const put = (part: object, version: string) =>
      admin.call('PUT', schemaOf('types'), {
        form: { fields: { version }, part: { name: 'parametersFile', ...part } as never },
      });
    const yaml = '# notes\nparameters:\n  a: {type: int, defaultValue: 0x10}\n';
    const json = documentOf({ a: { type: 'int', defaultValue: 16 } });
    const made = [
      await ok(200, put({ filename: 'a.yaml', content: yaml }, '1.0.0')),
      await ok(200, put({ filename: 'a.yml', content: yaml, type: 'application/json' }, '1.0.1')),
      await ok(200, put({ filename: 'a.json', content: json }, '1.0.2')),
      await ok(200, put({ filename: 'a', type: 'application/json', content: json }, '1.0.3')),
      await ok(200, put({ filename: 'a', content: yaml }, '1.0.4')),
    ];
    for (const { schema } of made) expect(schema).to.deep.equal(made[0].schema);
    const refused = await expectInvalid(
      put({ filename: 'a.json', content: yaml }, '1.0.5'),
      '/parametersFile',
    );
    expect(refused.json.errors[0].message).to.match(/^Line 1, column 1:/);
  });

  it('is refused with what is wrong in it, and nothing is kept', async () => {
    await ok(201, create(admin, 'refused'));
    const bad: [block: object | string, ...errors: string[]][] = [
      ['$schema: x\nresources: []\n', '/parameters required'],
      ['parameters: null\n', '/parameters required'],
      ['parameters: []\n', '/parameters type'],
      ['', '/parametersFile not_a_mapping'],
      ['- a\n', '/parametersFile not_a_mapping'],
      ['parameters: {a: {type: int}\n', '/parametersFile invalid_yaml'],
      ['parameters: {a: {type: int}, a: {type: int}}\n', '/parametersFile duplicate_key'],
      [{ port: { type: 'int', minValue: 1.5 } }, '/parameters/port/minValue type'],
      [
        { a: {}, 'b/c': { type: 'number' }, d: { type: 'bool', minLength: 1 }, e: 7 },
        ...['/parameters/a/type required', '/parameters/b~1c/type unknown_type'],
        ...['/parameters/d/minLength not_applicable', '/parameters/e type'],
      ],
      [{ a: { ...port, defaultValue: 0 } }, '/parameters/a/defaultValue minimum'],
    ];
    for (const [block, ...errors] of bad) {
      const what = JSON.stringify(block);
      const reply = await expectInvalid(uploadSchema(admin, 'refused', '1.0.0', block), undefined, what);
      const told = reply.json.errors.map(
        ({ path, code }: { path: string; code: string }) => `${path} ${code}`,
      );
      expect(told, what).to.deep.equal(errors);
    }
    for (const version of ['', 'v1.0.0', '1.0', 'winter', '1.0.0.lock', ' 1.0.0']) {
      await expectInvalid(uploadSchema(admin, 'refused', version, { a: text }), '/version', version);
    }
    const form = (fields: Record<string, string>, name: string | null) => {
      const part =
        name === null ? {} : { part: { name, filename: 'a.yaml', content: documentOf({ a: text }) } };
      return admin.call('PUT', schemaOf('refused'), { form: { fields, ...part } });
    };
    const version = { version: '1.0.0' };
    await expectProblem(form({}, 'parametersFile'), 400, 'validation_failed', 'no version');
    await expectProblem(form(version, null), 400, 'validation_failed', 'no file');
    await expectProblem(form(version, 'files'), 400, 'validation_failed', 'another file');
    await expectInvalid(form({ ...version, more: 'x' }, 'parametersFile'), undefined, 'a field more');
    await expectProblem(admin.put(schemaOf('refused'), version), 415, 'unsupported_media_type');
    await expectProblem(uploadSchema(admin, 'nothing', '1.0.0', { a: text }), 404, 'not_found');
    await expectProblem(read('refused'), 404, 'not_found');
    await ok(200, uploadSchema(admin, 'refused', '1.0.0+one', { a: text }));
    await expectProblem(uploadSchema(admin, 'refused', '1.0.0+two', { a: text }), 409, 'version_exists');
    expect(tags('refused')).to.deep.equal(['schema/v1.0.0+one']);
  });

  it('leaves an entry of who uploaded it, and none when it is there already', async () => {
    const { id } = await ok(201, create(admin, 'audited'));
    const put = (block: object) => ok(200, uploadSchema(admin, 'audited', '1.0.0', block));
    const [first] = await auditedDuring(hawser, () => put({ a: text }));
    expect(first).to.include({
      action: 'parameters.schema_uploaded',
      resourceType: 'Parameters',
      resourceId: id,
    });
    const commit = () => hawser.git('parameters/audited.git', 'rev-parse', 'schema/v1.0.0^{commit}').trim();
    expect(first?.details).to.include({
      name: 'audited',
      version: '1.0.0',
      commit: commit(),
      replaced: null,
    });
    const before = [commit(), (await put({ a: text })).schema];
    expect(await auditedDuring(hawser, () => put({ a: text }))).to.deep.equal([]);
    expect([commit(), (await put({ a: text })).schema]).to.deep.equal(before);
    const entries = await auditedDuring(hawser, () => put({ a: text, b: text }));
    expect(entries.map(({ details }) => details?.['replaced'])).to.deep.equal(before.slice(0, 1));
    const refused = () => uploadSchema(admin, 'audited', '1.1.0', {});
    expect(
      await auditedDuring(hawser, () => expectProblem(refused(), 409, 'incompatible_parameters')),
    ).to.have.length(0);
  });

  it('keeps to the highest one before it, published or uploaded, unless the major rises', async () => {
    await publishBlocks(admin, 'keeps', { '1.0.0': { a: text } });
    const put = (version: string, block: object) => uploadSchema(admin, 'keeps', version, block);
    const refused = async (version: string, block: object, oldVersion: string) => {
      const reply = await expectProblem(put(version, block), 409, 'incompatible_parameters', version);
      const { compatibilityReport } = reply.json;
      expect(compatibilityReport).to.include({ oldVersion, newVersion: version, hasBreakingChanges: true });
    };
    // The version that is published is one to keep to as well.
    await refused('1.0.0', {}, '1.0.0');
    await ok(200, put('1.0.0', { a: text, b: text }));
    await refused('1.0.0', { a: text }, '1.0.0');
    await refused('1.1.0', { a: text }, '1.0.0');
    await ok(200, put('1.1.0', { a: text, b: text, c: text }));
    await refused('1.2.0-rc.1', { a: text, b: text }, '1.1.0');
    // While nothing of its version is published, it may be mended.
    await ok(200, put('1.1.0', { a: text, b: text }));
    await ok(200, put('1.2.0-rc.1', { a: text, b: text }));
    await refused('1.2.0', { a: text }, '1.2.0-rc.1');
    await ok(200, put('2.0.0', {}));
    await ok(200, put('0.1.0', { z: { type: 'int' } }));
    await refused('0.2.0', {}, '0.1.0');
    // A draft is nobody to keep to.
    await ok(201, addVersion(admin, 'keeps', { version: '3.0.0' }, filesOf({ y: text })));
    await ok(200, put('3.0.0', {}));
    await ok(200, put('3.1.0', { x: text }));
  });

  it('is free where nothing was said before', async () => {
    await publishBlocks(admin, 'first', { '1.0.0': '$schema: x\nresources: []\n' });
    await ok(200, uploadSchema(admin, 'first', '1.0.0', { a: { type: 'int' } }));
    await publishBlocks(admin, 'second', { '1.0.0': '$schema: x\nresources: []\n' });
    await ok(200, uploadSchema(admin, 'second', '1.1.0', { a: { type: 'int' } }));
    await ok(201, addVersion(admin, 'second', { version: '1.1.0' }));
    await ok(200, publish(admin, 'second', '1.1.0'));
    for (const name of ['first', 'second'])
      expect(Object.keys((await ok(200, read(name))).properties.parameters.properties), name).to.deep.equal([
        'a',
      ]);
  });

  it('is that of the version named, uploaded before derived', async () => {
    await publishBlocks(admin, 'named', { '1.0.0': { one: text }, '1.1.0': { one: text, two: text } });
    await ok(201, addVersion(admin, 'named', { version: '2.0.0' }, filesOf({ three: text })));
    await ok(201, addVersion(admin, 'named', { version: '3.0.0' }, filesOf('$schema: x\nresources: []\n')));
    const names = async (query = '') =>
      Object.keys((await ok(200, read('named', query))).properties.parameters.properties);
    expect(await names()).to.deep.equal(['one', 'two']);
    expect(await names('?version=')).to.deep.equal(['one', 'two']);
    expect(await names('?version=1.0.0')).to.deep.equal(['one']);
    expect(await names('?version=2.0.0')).to.deep.equal(['three']);
    await ok(200, uploadSchema(admin, 'named', '2.0.0', { four: text }));
    expect(await names('?version=2.0.0')).to.deep.equal(['four']);
    await ok(200, uploadSchema(admin, 'named', '1.1.0', { one: text, two: text, five: text }));
    expect(await names()).to.deep.equal(['one', 'two', 'five']);
    await ok(200, uploadSchema(admin, 'named', '4.0.0', { six: text }));
    expect(await names('?version=4.0.0')).to.deep.equal(['six']);
    expect(await names()).to.deep.equal(['one', 'two', 'five']);
    for (const version of ['3.0.0', '9.0.0', 'x', '../1.0.0'])
      await expectProblem(read('named', `?version=${version}`), 404, 'not_found', version);
    await ok(201, create(admin, 'drafts', { version: '1.0.0' }, filesOf({ one: text })));
    await ok(201, addVersion(admin, 'drafts', { version: '2.0.0' }, filesOf({ two: text })));
    const schema = await ok(200, read('drafts'));
    expect(Object.keys(schema.properties.parameters.properties)).to.deep.equal(['two']);
  });

  it('decides what parameter files may hold', async () => {
    const { id } = await ok(201, create(admin, 'files'));
    const file = `/api/v1/parameters/${DEFAULT_ID}/${id}`;
    const save = (version: string, content: string) => admin.put(file, { version, content });
    await ok(201, save('1.0.0', 'parameters: {anything: [goes]}'));
    await ok(200, uploadSchema(admin, 'files', '1.0.0', { port, name: { type: 'string' } }));
    await expectInvalid(save('1.1.0', 'parameters: {port: 0}'), '/parameters/port');
    await ok(201, save('1.1.0', 'parameters: {port: 1}'));
    // An upload for the version that is published takes the place of its block at once.
    await publishBlocks(admin, 'replaced', { '1.0.0': { a: text } });
    await saveParameters(hawser, { configuration: 'replaced', content: 'parameters: {a: x}' });
    await ok(200, uploadSchema(admin, 'replaced', '1.0.0', { a: text, b: text }));
    await saveParameters(hawser, {
      configuration: 'replaced',
      content: 'parameters: {b: x}',
      version: '1.0.1',
    });
  });

  it('is one of those uploaded at once, and each that was taken fits what it was compared with', async () => {
    await ok(201, create(admin, 'race'));
    const uploads = Array.from({ length: 12 }, (_, at) => {
      const own = Object.fromEntries(Array.from({ length: at + 1 }, (_each, n) => [`p${n}`, text]));
      return uploadSchema(admin, 'race', at % 3 === 0 ? '1.0.0' : `1.${at}.0`, own);
    });
    const replies = await Promise.all(uploads);
    for (const { status, text: body } of replies) expect([200, 409], body).to.include(status);
    const kept = tags('race');
    for (const [at, { status }] of replies.entries()) {
      if (at % 3 !== 0) expect(kept.includes(`schema/v1.${at}.0`)).to.equal(status === 200);
    }
    expect(await ok(200, admin.get(versionsOf('race')))).to.have.length(1);
  });
});
