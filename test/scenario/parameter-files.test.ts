// full: SQLite, PostgreSQL
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { auditedDuring } from '../support/audit.ts';
import type { Client, Reply } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { configurationId } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, NODE_ID, SCOPE_TYPES } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n' };
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const PORT_80 = 'parameters:\n  port: 80 # the usual\n';
const MEMBERS = [
  ...['id', 'scopeTypeId', 'scopeTypeName', 'configurationId', 'scopeValue', 'version', 'majorVersion'],
  ...['checksum', 'contentType', 'status', 'isPassthrough', 'needsMigration', 'createdAt', 'createdBy'],
  ...['publishedAt', 'publishedBy', 'message', 'author', 'signature', 'signatureCheck'],
  ...['withdrawn', 'rollout'],
];
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('parameter files', () => {
  const hawser = started(startHawser);
  let environment: string;
  let site: string;
  let web: string;
  let serial = 0;

  const pathOf = (scopeTypeId: string, configuration = web) =>
    `/api/v1/parameters/${scopeTypeId}/${configuration}`;
  const ofValue = (value?: string) => (value === undefined ? '' : `?scopeValue=${value}`);
  const put = (scopeTypeId: string, body: Record<string, unknown>, client: Client = hawser.admin) =>
    client.put(pathOf(scopeTypeId), { content: PORT_80, ...body });
  const versionPath = (scopeTypeId: string, version: string, value?: string) =>
    `${pathOf(scopeTypeId)}/versions/${version}${ofValue(value)}`;
  const publish = (scopeTypeId: string, version: string, value?: string, client: Client = hawser.admin) =>
    client.put(`${pathOf(scopeTypeId)}/versions/${version}/publish${ofValue(value)}`);
  const remove = (scopeTypeId: string, version: string, value?: string) =>
    hawser.admin.delete(versionPath(scopeTypeId, version, value));
  const list = (scopeTypeId: string, value?: string) =>
    ok(200, hawser.admin.get(`${pathOf(scopeTypeId)}/versions${ofValue(value)}`));
  const upload = (
    fields: Record<string, string>,
    part: Partial<{ name: string; filename: string; type: string; content: string | Buffer }> = {},
  ) =>
    hawser.admin.upload('/api/v1/configurations/web/parameters/parameter-files', {
      fields,
      part: { name: 'parametersFile', filename: 'p.yaml', content: PORT_80, ...part },
    });
  /** A value that no other test uses. */
  const freshValue = () => {
    serial += 1;
    return `value-${serial}`;
  };
  const valuesOf = async (type: string): Promise<string[]> =>
    (await ok(200, hawser.admin.get(`${SCOPE_TYPES}/${type}/values?take=1000`))).map(
      ({ value }: { value: string }) => value,
    );

  /** Neither Git nor the scope values nor the audit trail are other than before. */
  const changesNothing = async (work: () => Promise<unknown>) => {
    const state = async () => [
      await valuesOf(environment),
      await valuesOf(site),
      hawser.git('parameters/web.git', 'for-each-ref'),
    ];
    const before = await state();
    expect(await auditedDuring(hawser, work)).to.deep.equal([]);
    expect(await state()).to.deep.equal(before);
  };

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': FILES });
    web = await configurationId(hawser.admin, 'web');
    environment = await createScopeType(hawser, 'Environment');
    site = await createScopeType(hawser, 'Site', { valueMode: 'Restricted' });
    await createScopeValue(hawser, site, 'Berlin');
    await ok(201, put(environment, { version: '1.0.0', scopeValue: 'first' }));
  });

  describe('as drafts', () => {
    it('are made, with the value that an Unrestricted type lacks', async () => {
      const scopeValue = freshValue();
      const reply = await put(environment, { version: '1.2.0-beta.1', scopeValue });
      const file = await ok(201, reply);
      expect(file).to.have.all.keys(MEMBERS);
      expect(file).to.include({
        ...{ scopeTypeId: environment, scopeTypeName: 'Environment', configurationId: web, scopeValue },
        ...{ version: '1.2.0-beta.1', majorVersion: 1, checksum: sha256(PORT_80) },
        ...{ contentType: 'application/yaml', status: 'Draft', isPassthrough: false, needsMigration: false },
        ...{ createdBy: 'admin', publishedAt: null, publishedBy: null, message: null },
      });
      expect(reply.headers['location']).to.equal(versionPath(environment, '1.2.0-beta.1', scopeValue));
      expect(await list(environment, scopeValue)).to.deep.equal([file]);
      expect(await valuesOf(environment)).to.include(scopeValue);
    });

    it('are changed in place, keeping their id and their birth', async () => {
      const scopeValue = freshValue();
      const first = await ok(201, put(environment, { version: '1.0.0', scopeValue }));
      hawser.clock.advance(60_000);
      const json = '{"parameters": {"port": 81}}';
      const change = {
        version: '1.0.0',
        scopeValue,
        content: json,
        contentType: 'Application/JSON; charset=utf-8',
      };
      const second = await ok(200, put(environment, change));
      expect(second).to.deep.equal({ ...first, checksum: sha256(json), contentType: 'application/json' });
      await changesNothing(async () => {
        expect(await ok(200, put(environment, change))).to.deep.equal(second);
      });
      const skipped = { version: '1.0.0', scopeValue, content: null, isPassthrough: true };
      const third = await ok(200, put(environment, skipped));
      expect(third).to.deep.equal({
        ...first,
        ...{ checksum: sha256(''), contentType: null, isPassthrough: true },
      });
      await changesNothing(() => ok(200, put(environment, skipped)));
      await changesNothing(() => ok(200, put(environment, { ...skipped, content: '' })));
      expect(await ok(200, put(environment, { version: '1.0.0', scopeValue }))).to.deep.equal(first);
    });

    it('take every name of the two content types', async () => {
      const scopeValue = freshValue();
      const yaml = ['yaml', 'YAML', 'text/yaml', 'text/x-yaml', 'application/x-yaml'];
      const json = ['json', 'text/json', 'APPLICATION/JSON', 'application/json;charset=utf-8'];
      const names = [null, ...yaml, 'application/yaml; a=b', ...json];
      for (const [at, contentType] of names.entries()) {
        const wish = { version: `1.0.${at}`, scopeValue, content: '{"parameters": {}}', contentType };
        const expected = json.includes(contentType ?? '') ? 'application/json' : 'application/yaml';
        expect((await ok(201, put(environment, wish))).contentType, String(contentType)).to.equal(expected);
      }
    });

    it('of Default take no value, of Node that of a registered node in any case', async () => {
      const node = await hawser.registerNode('db-01.example.org');
      const ofDefault = await ok(201, put(DEFAULT_ID, { version: '0.1.0' }));
      expect(ofDefault.scopeValue).to.equal(null);
      const ofNode = await ok(201, put(NODE_ID, { version: '0.1.0', scopeValue: 'DB-01.Example.ORG' }));
      expect(ofNode.scopeValue).to.equal(node.fqdn);
      expect(await list(NODE_ID, 'Db-01.example.org')).to.deep.equal([ofNode]);
      await changesNothing(async () => {
        for (const scopeValue of ['prod', '']) {
          await expectInvalid(put(DEFAULT_ID, { version: '0.2.0', scopeValue }), '/scopeValue');
        }
        for (const scopeValue of ['db-02.example.org', 'a/b', '..', 'db-01.example.org.lock', '']) {
          const reply = await put(NODE_ID, { version: '0.2.0', scopeValue });
          await expectProblem(reply, 400, 'unknown_node', scopeValue);
          expect(reply.json.errors[0]).to.include({ path: '/scopeValue', code: 'unknown_node' });
        }
        for (const type of [NODE_ID, environment, site]) {
          const reply = await put(type, { version: '0.2.0' });
          await expectInvalid(reply);
          expect(reply.json.errors[0]).to.include({ path: '/scopeValue', code: 'required' });
        }
      });
    });

    it('of a Restricted type take a defined value alone, as it is spelled', async () => {
      const file = await ok(201, put(site, { version: '0.1.0', scopeValue: 'BERLIN' }));
      expect(file.scopeValue).to.equal('Berlin');
      await changesNothing(async () => {
        for (const scopeValue of ['paris', 'a b', 'x'.repeat(65)]) {
          const reply = await put(site, { version: '0.2.0', scopeValue });
          await expectProblem(reply, 400, 'unknown_scope_value', scopeValue);
          expect(reply.json.errors[0]).to.include({ path: '/scopeValue', code: 'unknown_scope_value' });
        }
      });
    });

    it('refuse what breaks the form', async () => {
      const faults: [Record<string, unknown>, string][] = [
        ...['', '1', '1.0', 'v1.0.0', '1.0.0.lock', '01.0.0', '1.0.0/..', 'latest', 1, null].map(
          (version): [Record<string, unknown>, string] => [{ version }, '/version'],
        ),
        ...['a b', 'a/b', '../x', 'ü', 'a\n', 'x'.repeat(65), '\u212a'].map(
          (scopeValue): [Record<string, unknown>, string] => [{ scopeValue }, '/scopeValue'],
        ),
        [{ scopeValue: 7 }, '/scopeValue'],
        [{ content: undefined }, '/content'],
        [{ content: null }, '/content'],
        [{ content: { parameters: {} } }, '/content'],
        [{ isPassthrough: true }, '/content'],
        [{ isPassthrough: 'true', content: null }, '/isPassthrough'],
        [{ contentType: 'text/plain' }, '/contentType'],
        [{ contentType: '' }, '/contentType'],
        [{ status: 'Published' }, '/status'],
      ];
      await changesNothing(async () => {
        for (const [fault, path] of faults) {
          await expectInvalid(
            put(environment, { version: '9.0.0', scopeValue: 'new', ...fault }),
            path,
            JSON.stringify(fault),
          );
        }
      });
    });

    it('of nothing that exists are refused with 404', async () => {
      await changesNothing(async () => {
        for (const path of [
          ...[UNKNOWN, 'Environment', '%00', '%2e%2e', environment.toUpperCase()].map((id) => pathOf(id)),
          ...[UNKNOWN, 'web', '%00', '%2e%2e', web.toUpperCase()].map((id) => pathOf(environment, id)),
        ]) {
          const body = { version: '9.0.0', scopeValue: 'new', content: PORT_80 };
          await expectProblem(hawser.admin.put(path, body), 404, 'not_found', path);
          for (const rest of ['/versions', '/majors', '/majors/1']) {
            await expectProblem(
              hawser.admin.get(`${path}${rest}${ofValue('first')}`),
              404,
              'not_found',
              path,
            );
          }
          const version = `${path}/versions/1.0.0`;
          const query = ofValue('first');
          await expectProblem(hawser.admin.put(`${version}/publish${query}`), 404, 'not_found', path);
          await expectProblem(hawser.admin.delete(`${version}${query}`), 404, 'not_found', path);
        }
        for (const version of ['2.0.0', '%2e%2e', '%00', '1.0.0%2f..', 'v1.0.0']) {
          await expectProblem(publish(environment, version, 'first'), 404, 'not_found', version);
          await expectProblem(remove(environment, version, 'first'), 404, 'not_found', version);
        }
        for (const value of ['none', '%2e%2e', '%00', 'a%2fb']) {
          await expectProblem(publish(environment, '1.0.0', value), 404, 'not_found', value);
          await expectProblem(remove(environment, '1.0.0', value), 404, 'not_found', value);
          if (value !== '%00') expect(await list(environment, value)).to.deep.equal([]);
        }
      });
    });
  });

  describe('of a type that is switched off', () => {
    before(async () => {
      // A published file would bar it from being switched off.
      await ok(200, hawser.admin.call('PATCH', `${SCOPE_TYPES}/${DEFAULT_ID}/disable`));
    });
    after(() => hawser.admin.call('PATCH', `${SCOPE_TYPES}/${DEFAULT_ID}/enable`));

    it('are neither written nor published, but read and deleted', async () => {
      await changesNothing(async () => {
        await expectProblem(put(DEFAULT_ID, { version: '7.0.0' }), 409, 'scope_type_disabled');
        await expectProblem(publish(DEFAULT_ID, '0.1.0'), 409, 'scope_type_disabled');
        const fields = { scopeTypeName: 'default', version: '7.0.0' };
        await expectProblem(upload(fields), 409, 'scope_type_disabled');
      });
      const files = await list(DEFAULT_ID);
      expect(files).to.not.have.length(0);
      const path = '/api/v1/configurations/web/parameter-files?scopeTypeName=Default';
      expect(await ok(200, hawser.admin.get(path))).to.deep.equal(files);
      await ok(204, remove(DEFAULT_ID, '0.1.0'));
    });
  });

  describe('published', () => {
    it('never change again', async () => {
      const scopeValue = freshValue();
      const draft = await ok(201, put(environment, { version: '1.0.0', scopeValue }));
      const file = await ok(200, publish(environment, '1.0.0', scopeValue));
      expect(file).to.deep.equal({
        ...draft,
        status: 'Published',
        publishedAt: file.publishedAt,
        publishedBy: 'admin',
      });
      expect(Date.parse(file.publishedAt)).to.be.at.least(Date.parse(file.createdAt));
      await changesNothing(async () => {
        for (const body of [{}, { content: 'parameters: {}' }, { content: null, isPassthrough: true }]) {
          const reply = await put(environment, { version: '1.0.0', scopeValue, ...body });
          await expectProblem(reply, 409, 'published_version');
        }
        await expectProblem(publish(environment, '1.0.0', scopeValue), 409, 'already_published');
        await expectProblem(remove(environment, '1.0.0', scopeValue), 409, 'published_version');
        const fields = { scopeTypeName: 'Environment', version: '1.0.0', scopeValue };
        await expectProblem(upload(fields), 409, 'published_version');
      });
      const sameButBuild = await put(environment, { version: '1.0.0+2', scopeValue });
      await expectProblem(sameButBuild, 409, 'version_exists');
      expect(await list(environment, scopeValue)).to.deep.equal([file]);
    });

    it('are listed with drafts, highest first, page by page', async () => {
      const scopeValue = freshValue();
      for (const version of ['1.0.0', '1.10.0', '2.0.0-rc.1', '1.9.0', '2.0.0']) {
        await ok(201, put(environment, { version, scopeValue }));
      }
      await ok(200, publish(environment, '1.9.0', scopeValue));
      const order = ['2.0.0', '2.0.0-rc.1', '1.10.0', '1.9.0', '1.0.0'];
      const named = (files: { version: string }[]) => files.map(({ version }) => version);
      expect(named(await list(environment, scopeValue))).to.deep.equal(order);
      const path = `${pathOf(environment)}/versions?scopeValue=${scopeValue}&take=2&skip=2`;
      const second = await hawser.admin.get(path);
      expect(named(second.json)).to.deep.equal(order.slice(2, 4));
      expect(second.headers['x-total-count']).to.equal('5');
      expect(second.headers['link']).to.match(/skip=4.*rel="next"/);
      await expectInvalid(hawser.admin.get(`${pathOf(environment)}/versions`));
      await expectInvalid(hawser.admin.get(`${pathOf(DEFAULT_ID)}/versions?scopeValue=x`));
      await expectInvalid(hawser.admin.get(`${path}&scopeValue=y`));
    });

    it('are told of by majors', async () => {
      const scopeValue = freshValue();
      const majors = () => ok(200, hawser.admin.get(`${pathOf(environment)}/majors${ofValue(scopeValue)}`));
      const major = (number: string | number) =>
        hawser.admin.get(`${pathOf(environment)}/majors/${number}${ofValue(scopeValue)}`);
      expect(await majors()).to.deep.equal([]);
      const text = 'parameters:\n  name: "0123" # ☃\n';
      for (const version of ['1.0.0', '1.1.0', '1.2.0-rc.1', '2.0.0-rc.1', '10.0.0']) {
        await ok(201, put(environment, { version, scopeValue, content: `${text}# ${version}\n` }));
      }
      await expectProblem(major(1), 404, 'not_found');
      for (const version of ['1.0.0', '1.2.0-rc.1', '2.0.0-rc.1']) {
        await ok(200, publish(environment, version, scopeValue));
      }
      const rest = { hasMigrationNeeded: false };
      expect(await majors()).to.deep.equal([
        { majorVersion: 10, versionCount: 1, hasActive: false, latestVersion: '10.0.0', ...rest },
        { majorVersion: 2, versionCount: 1, hasActive: true, latestVersion: '2.0.0-rc.1', ...rest },
        { majorVersion: 1, versionCount: 3, hasActive: true, latestVersion: '1.2.0-rc.1', ...rest },
      ]);
      const one = await major(1);
      expect(await ok(200, one)).to.have.all.keys(...MEMBERS, 'content', 'access');
      expect(one.json).to.include({ version: '1.0.0', content: `${text}# 1.0.0\n`, status: 'Published' });
      expect(one.json.checksum).to.equal(sha256(one.json.content));
      expect(one.headers['etag']).to.be.a('string');
      expect((await ok(200, major(2))).version, 'no stable one').to.equal('2.0.0-rc.1');
      for (const none of [10, 3, '01', '-1', '1.0', 'x', '%00', '1e1', '9'.repeat(30)]) {
        await expectProblem(major(none), 404, 'not_found', String(none));
      }
      await ok(201, put(environment, { version: '3.0.0', scopeValue, content: null, isPassthrough: true }));
      await ok(200, publish(environment, '3.0.0', scopeValue));
      expect(await ok(200, major(3))).to.include({ content: null, contentType: null, isPassthrough: true });
    });
  });

  describe('that are uploaded', () => {
    it('become drafts, or are published at once', async () => {
      const scopeValue = freshValue();
      const fields = { scopeTypeName: 'ENVIRONMENT', scopeValue, version: '1.0.0' };
      const reply = await upload(fields);
      const draft = await ok(201, reply);
      expect(draft).to.have.all.keys(MEMBERS);
      expect(draft).to.include({
        ...{ scopeTypeName: 'Environment', scopeValue, status: 'Draft', checksum: sha256(PORT_80) },
        contentType: 'application/yaml',
      });
      expect(reply.headers['location']).to.equal(versionPath(environment, '1.0.0', scopeValue));
      const content = '\ufeff{"parameters": {"port": 1}}';
      const again = await ok(201, upload({ ...fields, publish: 'FALSE' }, { filename: 'P.JSON', content }));
      expect(again).to.include({ id: draft.id, checksum: sha256(content), contentType: 'application/json' });
      const published = await ok(
        201,
        upload({ ...fields, publish: 'true' }, { filename: 'P.JSON', content }),
      );
      expect(published).to.include({ id: draft.id, status: 'Published', checksum: sha256(content) });
      const next = await ok(201, upload({ ...fields, version: '1.1.0', publish: 'true' }));
      expect(next).to.include({ status: 'Published', createdBy: 'admin' });
      const ofDefault = { scopeTypeName: 'Default', scopeValue: '', version: '0.3.0', publish: '' };
      expect(await ok(201, upload(ofDefault))).to.include({ scopeValue: null, status: 'Draft' });
    });

    it('are JSON by their name, or by their media type without a name that tells', async () => {
      const scopeValue = freshValue();
      const content = '{"parameters": {}}';
      const cases: [{ filename?: string; type?: string }, string][] = [
        [{ filename: 'a.json', type: 'text/plain' }, 'application/json'],
        [{ filename: 'C:\\fake path\\a.Json' }, 'application/json'],
        [{ filename: '../../etc/parameters', type: 'application/json; charset=utf-8' }, 'application/json'],
        [{ filename: 'a.yml', type: 'application/json' }, 'application/yaml'],
        [{ filename: 'a', type: 'application/octet-stream' }, 'application/yaml'],
        [{}, 'application/yaml'],
      ];
      for (const [at, [part, contentType]] of cases.entries()) {
        const fields = { scopeTypeName: 'Environment', scopeValue, version: `1.0.${at}` };
        const reply = await hawser.admin.upload('/api/v1/configurations/web/parameters/parameter-files', {
          ...{ fields, part: { name: 'parametersFile', content, ...part } },
        });
        expect((await ok(201, reply)).contentType, JSON.stringify(part)).to.equal(contentType);
      }
    });

    it('are refused by the same rules', async () => {
      const fields = { scopeTypeName: 'Environment', scopeValue: 'new', version: '9.0.0', publish: 'true' };
      const without = (name: keyof typeof fields) => {
        const { [name]: _, ...rest } = fields;
        return rest;
      };
      const refusals: [() => Promise<Reply>, number, string, string][] = [
        [() => upload(without('version')), 400, 'validation_failed', '/version'],
        [() => upload(without('scopeTypeName')), 400, 'validation_failed', '/scopeTypeName'],
        [() => upload(without('scopeValue')), 400, 'validation_failed', '/scopeValue'],
        [() => upload({ ...fields, publish: 'yes' }), 400, 'validation_failed', '/publish'],
        [() => upload({ ...fields, version: '9' }), 400, 'validation_failed', '/version'],
        [() => upload({ ...fields, more: 'x' }), 400, 'validation_failed', '/more'],
        [() => upload({ ...fields, scopeTypeName: 'Site' }), 400, 'unknown_scope_value', '/scopeValue'],
        [() => upload({ ...fields, scopeTypeName: 'Node' }), 400, 'unknown_node', '/scopeValue'],
        [() => upload({ ...fields, scopeTypeName: 'default' }), 400, 'validation_failed', '/scopeValue'],
        [() => upload(fields, { name: 'files' }), 400, 'validation_failed', '/files'],
        [() => upload({ ...fields, parametersFile: PORT_80 }), 400, 'validation_failed', '/parametersFile'],
        [() => upload(fields, { content: 'a: [' }), 400, 'validation_failed', '/parametersFile'],
        [() => upload(fields, { content: '' }), 400, 'validation_failed', '/parametersFile'],
      ];
      await changesNothing(async () => {
        for (const [send, status, code, path] of refusals) {
          const reply = await send();
          await expectProblem(reply, status, code, path);
          expect(reply.json.errors[0].path).to.equal(path);
        }
        const nothing = await hawser.admin.upload('/api/v1/configurations/web/parameters/parameter-files', {
          fields,
        });
        await expectInvalid(nothing);
        expect(nothing.json.errors[0]).to.include({ path: '/parametersFile', code: 'required' });
        await expectProblem(upload({ ...fields, scopeTypeName: 'Nobody' }), 404, 'not_found');
        const large = Buffer.alloc(5 * 1024 * 1024 + 1, 'a');
        await expectProblem(upload(fields, { content: large }), 413, 'payload_too_large');
      });
    });
  });

  describe('at the same time', () => {
    it('are made for twenty values, each whole', async () => {
      const values = Array.from({ length: 20 }, () => freshValue());
      const replies = await Promise.all(
        values.map((scopeValue) =>
          put(environment, { version: '1.0.0', scopeValue, content: `parameters: {who: ${scopeValue}}` }),
        ),
      );
      expect(replies.map(({ status }) => status)).to.deep.equal(values.map(() => 201));
      for (const scopeValue of values) {
        const [file, ...others] = await list(environment, scopeValue);
        expect(others).to.deep.equal([]);
        expect(file.checksum).to.equal(sha256(`parameters: {who: ${scopeValue}}`));
      }
      expect(await valuesOf(environment)).to.include.members(values);
    });

    it('define a value once, however it is spelled', async () => {
      const value = freshValue();
      const spellings = [value, value.toUpperCase(), value.replace('v', 'V')];
      const replies = await Promise.all(
        spellings.map((scopeValue, at) => put(environment, { version: `1.0.${at}`, scopeValue })),
      );
      expect(replies.map(({ status }) => status)).to.deep.equal([201, 201, 201]);
      const spelled = new Set(replies.map(({ json }) => json.scopeValue));
      expect(spelled.size).to.equal(1);
      expect(await list(environment, value)).to.have.length(3);
    });

    it('are published by one of two', async () => {
      const scopeValue = freshValue();
      await ok(201, put(environment, { version: '1.0.0', scopeValue }));
      const replies = await Promise.all([
        publish(environment, '1.0.0', scopeValue),
        publish(environment, '1.0.0', scopeValue),
      ]);
      const codes = replies.map(({ status, json }) => `${status} ${json.code ?? ''}`).sort();
      expect(codes).to.deep.equal(['200 ', '409 already_published']);
    });
  });

  it('are refused where the configuration goes while the body comes in', async () => {
    await publishConfiguration(hawser.admin, 'gone', { '1.0.0': FILES });
    const id = await configurationId(hawser.admin, 'gone');
    const path = pathOf(DEFAULT_ID, id);
    const [, ...replies] = await Promise.all([
      hawser.admin.delete('/api/v1/configurations/gone'),
      ...[1, 2, 3].map((n) => hawser.admin.put(path, { version: `${n}.0.0`, content: PORT_80 })),
    ]);
    for (const { status, text } of replies) expect(status, text).to.be.oneOf([201, 404]);
    await expectProblem(hawser.admin.get(`${path}/versions`), 404, 'not_found');
  });

  describe('to stock git', () => {
    it('are tags and a branch for their type, which tells who set what', async () => {
      const ada = await makeUser(hawser, { username: 'ada', roles: ['Administrator'] });
      const eve = await makeUser(hawser, { username: 'eve', roles: ['Administrator'] });
      const scopeValue = 'blamed';
      await ok(
        201,
        put(environment, { version: '1.0.0', scopeValue, content: 'parameters:\n  a: 1\n' }, ada.client),
      );
      expect(hawser.git('parameters/web.git', 'branch', '--list', 'draft/Environment/blamed/*')).to.match(
        /^ *draft\/Environment\/blamed\/1\.0\.0\n$/,
      );
      await ok(200, publish(environment, '1.0.0', scopeValue, eve.client));
      const next = 'parameters:\n  a: 1\n  b: 2\n';
      await ok(201, put(environment, { version: '1.1.0', scopeValue, content: next }, eve.client));
      await ok(200, publish(environment, '1.1.0', scopeValue, ada.client));
      const git = (...args: string[]) =>
        hawser
          .git('parameters/web.git', ...args)
          .trimEnd()
          .split('\n');
      expect(git('tag', '--list', 'Environment/blamed/*')).to.deep.equal([
        ...['Environment/blamed/v1.0.0', 'Environment/blamed/v1.1.0'],
      ]);
      expect(
        git('for-each-ref', '--format=%(taggername)', 'refs/tags/Environment/blamed/v1.1.0'),
      ).to.deep.equal(['ada']);
      expect(git('branch', '--list', 'draft/Environment/blamed/*')).to.deep.equal(['']);
      expect(git('log', '--format=%an', '-2', 'Environment', '--', 'blamed/parameters.yaml')).to.deep.equal([
        ...['eve', 'ada'],
      ]);
      const blame = git('blame', '-p', 'Environment', '--', 'blamed/parameters.yaml');
      const authors = blame.filter((line) => line.startsWith('author ')).map((line) => line.slice(7));
      expect(new Set(authors)).to.deep.equal(new Set(['ada', 'eve']));
      expect(git('show', 'Environment:blamed/parameters.yaml')).to.deep.equal(next.trimEnd().split('\n'));
      expect(git('fsck', '--strict', '--no-dangling')).to.deep.equal(['']);
    });
  });

  it('leave entries in the audit trail, of changes alone', async () => {
    const scopeValue = freshValue();
    const told = { name: 'web', scopeType: 'Environment', scopeValue, version: '1.0.0' };
    const entries = await auditedDuring(hawser, async () => {
      await ok(201, put(environment, { version: '1.0.0', scopeValue }));
      await ok(200, put(environment, { version: '1.0.0', scopeValue }));
      await ok(200, put(environment, { version: '1.0.0', scopeValue, content: 'parameters: {}' }));
      await ok(200, publish(environment, '1.0.0', scopeValue));
      await ok(201, put(environment, { version: '2.0.0', scopeValue }));
      await ok(204, remove(environment, '2.0.0', scopeValue));
    });
    const actions = ['saved', 'saved', 'published', 'saved', 'deleted'];
    expect(entries.map(({ action }) => action)).to.deep.equal([
      'scope_value.created',
      ...actions.map((action) => `parameters.version_${action}`),
    ]);
    const [, first, second, published] = entries;
    for (const entry of entries.slice(1)) {
      expect(entry).to.include({ resourceType: 'Parameters', resourceId: web, actorName: 'admin' });
    }
    expect(first?.details).to.deep.include({ ...told, isPassthrough: false, replaced: null });
    expect(second?.details).to.deep.include({ ...told, replaced: first?.details?.['commit'] });
    expect(published?.details).to.deep.include({ ...told });
    expect(JSON.stringify(entries)).to.not.include('port');
  });
});
