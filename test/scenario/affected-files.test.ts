// full: SQLite
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CONFIGURATIONS, create, publish, versionsOf } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { filesOf, publishBlocks, tryPublish, uploadSchema } from '../support/parameter-schemas.ts';
import { ok } from '../support/replies.ts';
import { createScopeType } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const int = { type: 'int', defaultValue: 5 };
const text = { type: 'string', defaultValue: 'abcd' };

describe('the answer to publishing names the parameter files that do not fit the version', () => {
  const hawser = started(startHawser);

  before(async () => {
    await createScopeType(hawser, 'Environment');
  });

  type Affected = { scopeTypeName: string; scopeValue: string | null; version: string; errors: object[] };

  async function affected(name: string, version: string, block: object | string): Promise<Affected[]> {
    return (await ok(200, tryPublish(hawser.admin, name, version, block))).affectedParameterFiles;
  }

  const named = (files: readonly Affected[]) =>
    files.map(({ scopeTypeName, scopeValue, version }) => `${scopeTypeName} ${scopeValue} ${version}`);

  const save = (
    configuration: string,
    version: string,
    content: string | null,
    more: { value?: string; publish?: boolean } = {},
  ) =>
    saveParameters(hawser, {
      configuration,
      version,
      content: content && `parameters: ${content}`,
      ...(more.value === undefined ? {} : { scopeType: 'Environment' }),
      ...more,
    });

  it('with their faults, where a new major breaks files of the major before it', async () => {
    await publishBlocks(hawser.admin, 'web', { '1.0.0': { port: int, name: text } });
    await save('web', '1.0.0', '{port: 1, name: one}');
    await save('web', '1.1.0', '{port: 2}');
    await save('web', '1.2.0', '{name: a draft says nothing}', { publish: false });
    await save('web', '1.0.0', '{name: two}', { value: 'prod' });
    await save('web', '1.0.0', null, { value: 'test' });
    const answer = await ok(200, tryPublish(hawser.admin, 'web', '2.0.0', { port: text }));
    expect(answer).to.include({ version: '2.0.0', status: 'Published' });
    const [first, second, ...others] = answer.affectedParameterFiles;
    expect(others).to.deep.equal([]);
    expect(first).to.have.all.keys('scopeTypeName', 'scopeValue', 'version', 'needsMigration', 'errors');
    expect(first).to.include({
      scopeTypeName: 'Default',
      scopeValue: null,
      version: '1.1.0',
      needsMigration: true,
    });
    expect(first.errors).to.have.length(1);
    expect(first.errors[0]).to.include({ path: '/parameters/port', code: 'type' });
    expect(first.errors[0].message).to.be.a('string');
    expect(second).to.include({ scopeTypeName: 'Environment', scopeValue: 'prod', version: '1.0.0' });
    expect(second.errors[0]).to.include({ path: '/parameters/name', code: 'unknown_parameter' });
    // The version itself is what it was: only the answer to publishing says what it did.
    expect(await ok(200, hawser.admin.get(`${versionsOf('web')}/2.0.0`))).to.not.have.property(
      'affectedParameterFiles',
    );
  });

  it('no longer, once the scope has a file of the new major', async () => {
    await publishBlocks(hawser.admin, 'moved', { '1.0.0': { port: int } });
    await save('moved', '1.0.0', '{port: 1}');
    await save('moved', '1.0.0', '{port: 1}', { value: 'prod' });
    expect(named(await affected('moved', '2.0.0', { door: text }))).to.deep.equal([
      'Default null 1.0.0',
      'Environment prod 1.0.0',
    ]);
    await save('moved', '2.0.0', '{door: a}', { value: 'prod' });
    // A later version of the major breaks nothing, so its publishing makes nothing unfit.
    expect(await affected('moved', '2.0.1', { door: text })).to.deep.equal([]);
    // A file of the nearest lower major goes before those of the others.
    expect(named(await affected('moved', '3.0.0', { gate: text }))).to.deep.equal([
      'Default null 1.0.0',
      'Environment prod 2.0.0',
    ]);
  });

  it('and none, where nothing breaks or nothing is declared', async () => {
    await ok(201, create(hawser.admin, 'calm', {}, filesOf({ port: int })));
    expect((await ok(200, publish(hawser.admin, 'calm', '1.0.0'))).affectedParameterFiles).to.deep.equal([]);
    await save('calm', '1.0.0', '{port: 1}');
    expect(await affected('calm', '1.1.0', { port: int, name: text })).to.deep.equal([]);
    expect(await affected('calm', '2.0.0', { port: int })).to.deep.equal([]);
    expect(await affected('calm', '3.0.0', '$schema: x\nresources: []\n')).to.deep.equal([]);
  });

  it('and none, where files are checked with a higher version of the major', async () => {
    await publishBlocks(hawser.admin, 'late', { '1.0.0': { port: int }, '1.2.0': { port: int, name: text } });
    await save('late', '1.2.0', '{name: new}');
    expect(await affected('late', '1.1.0', { port: int })).to.deep.equal([]);
  });

  it('and none of a node that was deleted, whoever has its name now', async () => {
    await publishBlocks(hawser.admin, 'node-own', { '1.0.0': { port: int } });
    const fqdn = 'web-01.example.org';
    const own = async (version: string) => {
      const { nodeId } = await hawser.registerNode(fqdn);
      const scope = { scopeType: 'Node', value: fqdn };
      await saveParameters(hawser, {
        configuration: 'node-own',
        version,
        content: 'parameters: {port: 1}',
        ...scope,
      });
      return nodeId;
    };
    const filesOfDeleted = async (query: string) =>
      named(await ok(200, hawser.admin.get(`${CONFIGURATIONS}/node-own/parameter-files?${query}`)));
    const nodeId = await own('1.0.0');
    expect(await filesOfDeleted('ofDeletedNode=true')).to.deep.equal([]);
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${nodeId}`));
    expect(await affected('node-own', '2.0.0', { port: text })).to.deep.equal([]);
    await own('1.1.0');
    expect(named(await affected('node-own', '3.0.0', { port: text }))).to.deep.equal([`Node ${fqdn} 1.1.0`]);
    const all = [`Node ${fqdn} 1.1.0`, `Node ${fqdn} 1.0.0`];
    expect(await filesOfDeleted('')).to.deep.equal(all);
    expect(await filesOfDeleted('ofDeletedNode=true')).to.deep.equal(all.slice(1));
    expect(await filesOfDeleted('ofDeletedNode=false')).to.deep.equal(all.slice(0, 1));
  });

  it('by its uploaded schema', async () => {
    await publishBlocks(hawser.admin, 'uploaded', { '1.0.0': { port: int } });
    await save('uploaded', '1.0.0', '{port: 1}');
    await ok(200, uploadSchema(hawser.admin, 'uploaded', '2.0.0', { port: text }));
    expect(named(await affected('uploaded', '2.0.0', { port: int }))).to.deep.equal(['Default null 1.0.0']);
  });

  it('and of a name that is no SemVer those that the highest file of each scope gives', async () => {
    await publishBlocks(hawser.admin, 'named', { '1.0.0': { port: int } });
    await save('named', '1.0.0', '{port: 1}');
    await ok(200, hawser.admin.put(`${CONFIGURATIONS}/named/settings`, { requireSemVer: false }));
    expect(named(await affected('named', 'winter', { port: text }))).to.deep.equal(['Default null 1.0.0']);
  });

  it('and none, where the configuration brings its own parameters', async () => {
    const fields = { useServerManagedParameters: 'false' };
    await ok(201, create(hawser.admin, 'own', fields, filesOf({ port: int })));
    expect((await ok(200, publish(hawser.admin, 'own', '1.0.0'))).affectedParameterFiles).to.deep.equal([]);
  });

  itOnSqlite('or null, where a file cannot be read; the version is published all the same', async () => {
    await publishBlocks(hawser.admin, 'lost', { '1.0.0': { port: int } });
    await save('lost', '1.0.0', '{port: 1}');
    const outside = new Outside(hawser, 'lost', 'parameters');
    const commit = outside.commit([outside.file('parameters.yaml', 'parameters: {port: 2}')]);
    outside.git('tag', '-a', 'Default/v1.1.0', '-m', 'Version 1.1.0', commit);
    const oid = outside.git('rev-parse', `${commit}:parameters.yaml`);
    const objects = join(hawser.reposDir, 'parameters', 'lost.git', 'objects', oid.slice(0, 2));
    expect(readdirSync(objects)).to.include(oid.slice(2));
    renameSync(objects, `${objects}.lost`);
    await hawser.restart();
    expect(await affected('lost', '2.0.0', { port: text })).to.equal(null);
    const version = await ok(200, hawser.admin.get(`${versionsOf('lost')}/2.0.0`));
    expect(version.status).to.equal('Published');
  });
});
