// full: SQLite, PostgreSQL
import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { auditedDuring } from '../support/audit.ts';
import type { Reply } from '../support/client.ts';
import { CONFIGURATIONS, create, MAIN } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { itOnSqlite } from '../support/engine.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { documentOf, schemaOf, uploadSchema } from '../support/parameter-schemas.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, NODE_ID, SCOPE_TYPES } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const of = (name: string) => `${CONFIGURATIONS}/${name}`;
const text = { type: 'string', defaultValue: 'abcd' };

describe('the parameters of a configuration', () => {
  const hawser = started(startHawser);

  const folderOf = (name: string, kind = 'parameters') => join(hawser.reposDir, kind, `${name}.git`);
  const hasRepository = (name: string, kind = 'parameters') => hawser.has(`${kind}/${name}.git`);
  const switchTo = (name: string, useServerManagedParameters: boolean): Promise<Reply> =>
    hawser.admin.call('PATCH', of(name), { json: { useServerManagedParameters } });
  const remove = (name: string) => hawser.admin.delete(of(name));
  const versionsOf = async (name: string, typeId = DEFAULT_ID, query = '') => {
    const id = await configurationId(hawser.admin, name);
    return ok(200, hawser.admin.get(`/api/v1/parameters/${typeId}/${id}/versions${query}`));
  };

  /** A configuration with a published file of Default and an uploaded schema. */
  const prepare = async (name: string) => {
    await publishConfiguration(hawser.admin, name, {
      '1.0.0': { [MAIN]: `$schema: x\nresources: []\n# ${name}\n` },
    });
    await saveParameters(hawser, { configuration: name, content: `parameters: {of: ${name}}` });
    await ok(200, uploadSchema(hawser.admin, name, '3.0.0', { of: text }));
  };

  it('stay in use while any scope has a published file, a draft and a schema alone apart', async () => {
    const scopeType = 'Stage';
    await createScopeType(hawser, scopeType);
    for (const scope of [{}, { scopeType, value: 'test' }]) {
      const name = `used-${Object.keys(scope).length}`;
      await ok(201, create(hawser.admin, name));
      await ok(200, switchTo(name, false));
      await ok(200, switchTo(name, true));
      const file = { configuration: name, content: 'parameters: {a: 1}', ...scope };
      await saveParameters(hawser, { ...file, publish: false });
      await ok(200, uploadSchema(hawser.admin, name, '2.0.0', { a: text }));
      await ok(200, switchTo(name, false));
      await ok(200, switchTo(name, true));
      await saveParameters(hawser, file);
      const before = await ok(200, hawser.admin.get(of(name)));
      const entries = await auditedDuring(hawser, () => expectProblem(switchTo(name, false), 409, 'in_use'));
      expect(entries).to.deep.equal([]);
      expect(await ok(200, hawser.admin.get(of(name)))).to.deep.equal(before);
      await ok(200, switchTo(name, true));
      await ok(200, hawser.admin.call('PATCH', of(name), { json: { description: 'other' } }));
      await hawser.restart();
      await expectProblem(switchTo(name, false), 409, 'in_use');
    }
  });

  it('go with it, and the next one of its name has none of them', async () => {
    await prepare('gone');
    await ok(204, remove('gone'));
    expect(hasRepository('gone')).to.equal(false);
    expect(hasRepository('gone', 'configurations')).to.equal(false);
    await expectProblem(hawser.admin.get(schemaOf('gone')), 404, 'not_found');
    await publishConfiguration(hawser.admin, 'gone', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n# new\n' },
    });
    expect(await versionsOf('gone')).to.deep.equal([]);
    await expectProblem(hawser.admin.get(schemaOf('gone')), 404, 'not_found');
    const node = await hawser.registerNode('gone.example.org');
    await assign(hawser, node, 'gone');
    expect(await pullParameters(node)).to.equal(null);
    await hawser.restart();
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${node.nodeId}/configuration`));
    await saveParameters(hawser, { configuration: 'gone', content: 'parameters: {new: 1}' });
    expect(await versionsOf('gone')).to.have.length(1);
    await ok(204, remove('gone'));
    expect(hasRepository('gone')).to.equal(false);
  });

  itOnSqlite('go at the next start where a crash has cut the deletion off', async () => {
    // What is left after the row is gone: everything, the parameters, or the versions.
    const left: Record<string, string[]> = {
      all: [],
      parameters: ['configurations'],
      versions: ['parameters'],
    };
    for (const [name, removed] of Object.entries(left)) {
      await prepare(name);
      await withDatabase(hawser, ({ write }) =>
        write.transaction().execute(async (trx) => {
          await trx.deleteFrom('configurations').where('name', '=', name).execute();
          const kinds = (['configurations', 'parameters'] as const).filter((kind) => !removed.includes(kind));
          for (const kind of kinds)
            await trx.insertInto('repository_removals').values({ kind, name }).execute();
        }),
      );
      for (const kind of removed) renameSync(folderOf(name, kind), join(hawser.folder, `${name}-${kind}`));
    }
    await hawser.restart();
    for (const name of Object.keys(left)) {
      await expectProblem(hawser.admin.get(of(name)), 404, 'not_found');
      for (const kind of ['configurations', 'parameters'])
        expect(hasRepository(name, kind), `${name} ${kind}`).to.equal(false);
      await ok(201, create(hawser.admin, name));
      expect(await versionsOf(name)).to.deep.equal([]);
    }
    const notes = await withDatabase(hawser, ({ read }) =>
      read.selectFrom('repository_removals').selectAll().execute(),
    );
    expect(notes).to.deep.equal([]);
    // Once struck out, a removal does not come again.
    await saveParameters(hawser, { configuration: 'all', content: 'parameters: {a: 1}' });
    await hawser.restart();
    expect(await versionsOf('all')).to.have.length(1);
  });

  it('do not come back by a write that races with its end', async () => {
    for (let round = 0; round < 4; round += 1) {
      await ok(201, create(hawser.admin, 'storm'));
      const id = await configurationId(hawser.admin, 'storm');
      const save = (at: number) =>
        hawser.admin.put(`/api/v1/parameters/${DEFAULT_ID}/${id}`, {
          version: `1.${at}.0`,
          content: documentOf({ a: `${at}` }),
        });
      const work = Array.from({ length: 6 }, (_, at) => [
        save(at),
        uploadSchema(hawser.admin, 'storm', `1.${at}.0`, { a: text }),
        ...(at === 2 || at === 4 ? [remove('storm')] : []),
        hawser.admin.get(schemaOf('storm')),
      ]).flat();
      const replies = await Promise.all(work);
      for (const { status, text: body } of replies)
        expect([200, 201, 204, 404, 409], body).to.include(status);
      expect(replies.filter(({ status }) => status === 204)).to.have.length(1);
      expect(hasRepository('storm')).to.equal(false);
      expect(hasRepository('storm', 'configurations')).to.equal(false);
    }
    expect((await hawser.client().get('/health/ready')).json.checks.repositories).to.equal('Ok');
  });

  it('are nobody else’s when the configuration is made anew at the same time', async () => {
    for (let round = 0; round < 4; round += 1) {
      await create(hawser.admin, 'phoenix');
      await saveParameters(hawser, { configuration: 'phoenix', content: `parameters: {round: ${round}}` });
      const work = Array.from({ length: 8 }, (_, at) =>
        at % 2 ? remove('phoenix') : create(hawser.admin, 'phoenix'),
      );
      for (const { status, text: body } of await Promise.all(work))
        expect([201, 204, 404, 409], body).to.include(status);
      const isThere = (await hawser.admin.get(of('phoenix'))).status === 200;
      expect(hasRepository('phoenix')).to.equal(false);
      if (!isThere) continue;
      expect(await versionsOf('phoenix')).to.deep.equal([]);
      await ok(204, remove('phoenix'));
    }
  });

  itOnSqlite('without any configuration are kept, told of, and given to nobody', async () => {
    await prepare('source');
    cpSync(folderOf('source'), folderOf('stray'), { recursive: true });
    await hawser.restart();
    expect(hawser.log()).to.match(/"level":"error"[^\n]*"kind":"parameters","name":"stray"/);
    await expectProblem(hawser.admin.get(of('stray')), 404, 'not_found');
    await expectProblem(hawser.admin.get(schemaOf('stray')), 404, 'not_found');
    const reply = await expectProblem(create(hawser.admin, 'stray'), 409, 'name_taken');
    expect(reply.json.detail).to.match(/parameters/i);
    expect(hasRepository('stray', 'configurations')).to.equal(false);
    await hawser.restart();
    expect(hawser.git('parameters/stray.git', 'tag', '--list', 'Default/*').trim()).to.equal(
      'Default/v1.0.0',
    );
    renameSync(folderOf('stray'), join(hawser.folder, 'stray'));
    await ok(201, create(hawser.admin, 'stray'));
    expect(await versionsOf('stray')).to.deep.equal([]);
  });

  itOnSqlite('are found again when a lost row is made anew', async () => {
    await prepare('adopted');
    const before = await versionsOf('adopted');
    const node = await hawser.registerNode('adopted.example.org');
    await withDatabase(hawser, ({ write }) =>
      write.deleteFrom('configurations').where('name', '=', 'adopted').execute(),
    );
    await hawser.restart();
    expect(await versionsOf('adopted')).to.deep.equal(before);
    await assign(hawser, node, 'adopted');
    const again = { ...node, client: hawser.client(node.identity) };
    expect(await pullParameters(again)).to.equal('parameters:\n  of: adopted\n');
    const { properties } = await ok(200, hawser.admin.get(`${schemaOf('adopted')}?version=3.0.0`));
    expect(Object.keys(properties.parameters.properties)).to.deep.equal(['of']);
  });

  it('hold the scope types and values that they are of', async () => {
    const scopeType = 'Region';
    const typeId = await createScopeType(hawser, scopeType);
    const valueId = await createScopeValue(hawser, typeId, 'north');
    const other = await createScopeValue(hawser, typeId, 'south');
    await ok(201, create(hawser.admin, 'holding'));
    const value = 'north';
    const file = { configuration: 'holding', content: 'parameters: {a: 1}', scopeType, value };
    await saveParameters(hawser, { ...file, publish: false });
    const removeValue = (id: string) => hawser.admin.delete(`${SCOPE_TYPES}/${typeId}/values/${id}`);
    const isHeld = async () => {
      await expectProblem(removeValue(valueId), 409, 'in_use');
      await expectProblem(hawser.admin.delete(`${SCOPE_TYPES}/${typeId}`), 409, 'in_use');
    };
    await isHeld();
    await hawser.restart();
    await isHeld();
    await ok(204, removeValue(other));
    const id = await configurationId(hawser.admin, 'holding');
    await ok(204, hawser.admin.delete(`/api/v1/parameters/${typeId}/${id}/versions/1.0.0?scopeValue=north`));
    await ok(204, removeValue(valueId));
    await saveParameters(hawser, file);
    await expectProblem(hawser.admin.delete(`${SCOPE_TYPES}/${typeId}`), 409, 'in_use');
    await ok(204, remove('holding'));
    await ok(204, hawser.admin.delete(`${SCOPE_TYPES}/${typeId}`));
  });

  it('never outlive a scope type or value that is deleted while they are written', async () => {
    await ok(201, create(hawser.admin, 'shore'));
    const id = await configurationId(hawser.admin, 'shore');
    for (let round = 0; round < 6; round += 1) {
      const typeId = await createScopeType(hawser, `Tide${round}`);
      const valueId = await createScopeValue(hawser, typeId, 'low');
      const save = (at: number) =>
        hawser.admin.put(`/api/v1/parameters/${typeId}/${id}`, {
          ...{ version: `1.${at}.0`, scopeValue: 'low', content: documentOf({ a: at }) },
        });
      const path = `${SCOPE_TYPES}/${typeId}`;
      const replies = await Promise.all([
        ...[save(0), hawser.admin.delete(round % 2 ? path : `${path}/values/${valueId}`), save(1)],
        ...[hawser.admin.delete(path), save(2)],
      ]);
      for (const { status, text: body } of replies) expect([201, 204, 404, 409], body).to.include(status);
      // The repository is made by the first file that is saved, and all of a round may be refused.
      const isThere = await hawser.has('parameters/shore.git');
      const branch = `refs/heads/draft/Tide${round}`;
      const files = isThere ? hawser.git('parameters/shore.git', 'for-each-ref', branch) : '';
      const type = await hawser.admin.get(path);
      expect(type.status === 200 || files === '', `${type.status} ${files}`).to.equal(true);
    }
  });

  it('keep Default and Node on while any of their files is published', async () => {
    const fresh = await startHawser();
    try {
      await ok(201, create(fresh.admin, 'web'));
      await fresh.registerNode('web.example.org');
      const kinds = [{ id: NODE_ID, scopeType: 'Node', value: 'web.example.org' }, { id: DEFAULT_ID }];
      for (const { id, ...scope } of kinds) {
        const turn = (how: 'enable' | 'disable') => fresh.admin.call('PATCH', `${SCOPE_TYPES}/${id}/${how}`);
        const file = { configuration: 'web', content: 'parameters: {a: 1}', ...scope };
        await saveParameters(fresh, { ...file, publish: false });
        expect(await ok(200, turn('disable'))).to.include({ isEnabled: false });
        await ok(200, turn('enable'));
        await saveParameters(fresh, file);
        await expectProblem(turn('disable'), 409, 'in_use');
      }
    } finally {
      await fresh.close();
    }
  });
});
