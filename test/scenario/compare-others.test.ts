// full: SQLite
import { expect } from 'chai';
import type { Client } from '../support/client.ts';
import { addChild, addCompositeDraft, compositeOf, publishWithChildren } from '../support/composites.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { configurationId, saveParameters } from '../support/parameter-files.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { DEFAULT_ID, SCOPE_TYPES } from '../support/scopes.ts';
import { started } from '../support/started.ts';

describe('comparing two versions', () => {
  const hawser = started(startHawser);
  let admin: Client;

  before(async () => {
    ({ admin } = hawser);
    const files = { 'main.dsc.yaml': '$schema: x\nresources: []\n' };
    for (const name of ['api', 'db', 'web', 'zoo'])
      await publishConfiguration(admin, name, { '1.0.0': files });
  });

  describe('of a composite', () => {
    const compare = (query: string) => admin.get(`${compositeOf('farm')}/compare?${query}`);
    before(async () => {
      const children = [
        { name: 'zoo', order: 0 },
        { name: 'web', order: 1 },
        { name: 'api', order: 2 },
      ];
      await publishWithChildren(admin, 'farm', '1.0.0', children);
      await ok(201, addCompositeDraft(admin, 'farm', '2.0.0'));
      await ok(201, addChild(admin, 'farm', '2.0.0', 'zoo', { order: 0 }));
      await ok(201, addChild(admin, 'farm', '2.0.0', 'web', { order: 1, activeVersion: '1.0.0' }));
      await ok(201, addChild(admin, 'farm', '2.0.0', 'db', { order: 2, majorVersion: 1 }));
    });

    it('tells of each child by name what became of it', async () => {
      const { from, to, entryPoint, children } = await ok(200, compare('to=2.0.0'));
      expect([from.version, from.status, to.version, to.status]).to.deep.equal([
        ...['1.0.0', 'Published'],
        ...['2.0.0', 'Draft'],
      ]);
      expect(entryPoint).to.deep.equal({ before: 'main.dsc.yaml', after: 'main.dsc.yaml' });
      const side = (order: number, activeVersion: string | null = null) => ({ activeVersion, order });
      expect(children).to.deep.equal([
        { childConfigurationName: 'api', change: 'Removed', before: side(2), after: null },
        {
          childConfigurationName: 'db',
          change: 'Added',
          before: null,
          after: { ...side(2), majorVersion: 1 },
        },
        { childConfigurationName: 'web', change: 'Modified', before: side(1), after: side(1, '1.0.0') },
        { childConfigurationName: 'zoo', change: 'Unchanged', before: side(0), after: side(0) },
      ]);
    });

    it('goes back, to itself, and from nothing', async () => {
      const back = await ok(200, compare('from=2.0.0&to=1.0.0'));
      expect(back.children.map(changeOf)).to.deep.equal(['Added', 'Removed', 'Modified', 'Unchanged']);
      const same = await ok(200, compare('from=2.0.0&to=2.0.0'));
      expect(new Set(same.children.map(changeOf))).to.deep.equal(new Set(['Unchanged']));
      const first = await ok(200, compare('to=1.0.0'));
      expect([first.from, first.entryPoint.before]).to.deep.equal([null, null]);
      expect(first.children.map(changeOf)).to.deep.equal(['Added', 'Added', 'Added']);
    });

    it('refuses what is missing or unknown', async () => {
      await expectProblem(compare('from=1.0.0'), 400, 'validation_failed');
      await expectProblem(compare('to=3.0.0'), 404, 'not_found');
    });
  });

  describe('of a parameter file', () => {
    let path: string;
    const compare = (query: string) => admin.get(`${path}?${query}`);
    const save = (version: string, content: string | null, more: Record<string, unknown> = {}) =>
      saveParameters(hawser, { configuration: 'web', version, content, ...more });
    before(async () => {
      path = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(admin, 'web')}/compare`;
      await save('1.0.0', 'parameters:\n  port: 80\n  host: a\n');
      await save('1.1.0', 'parameters:\n  port: 443\n  host: a');
      await save('1.2.0', null);
      await save('1.3.0', '{"parameters":{}}', { contentType: 'application/json', publish: false });
    });

    it('shows its lines', async () => {
      const diff = await ok(200, compare('to=1.1.0&context=0'));
      expect(diff).to.deep.include({
        ...{ path: 'parameters.yaml', previousPath: null, change: 'Modified' },
        endsWithoutNewline: { before: false, after: true },
      });
      expect(diff.hunks).to.deep.equal([
        {
          ...{ oldStart: 2, oldLines: 2, newStart: 2, newLines: 2 },
          lines: [
            { kind: 'Removed', oldNumber: 2, newNumber: null, text: '  port: 80' },
            { kind: 'Removed', oldNumber: 3, newNumber: null, text: '  host: a' },
            { kind: 'Added', oldNumber: null, newNumber: 2, text: '  port: 443' },
            { kind: 'Added', oldNumber: null, newNumber: 3, text: '  host: a' },
          ],
        },
      ]);
    });

    it('takes a passthrough for a file that is not there', async () => {
      expect((await ok(200, compare('to=1.2.0'))).change).to.equal('Removed');
      expect((await ok(200, compare('from=1.2.0&to=1.0.0'))).change).to.equal('Added');
      const none = await ok(200, compare('from=1.2.0&to=1.2.0'));
      expect(none).to.deep.include({ change: 'Unchanged', hunks: [] });
      expect((await ok(200, compare('to=1.0.0'))).change).to.equal('Added');
    });

    it('knows both names of a file that became JSON', async () => {
      const diff = await ok(200, compare('from=1.1.0&to=1.3.0'));
      expect(diff).to.include({
        ...{ path: 'parameters.json', previousPath: 'parameters.yaml', change: 'Modified' },
      });
    });

    it('is of the scope that the query names', async () => {
      const type = await ok(201, admin.post(SCOPE_TYPES, { name: 'Region', valueMode: 'Unrestricted' }));
      const region = { scopeType: 'Region', value: 'north' };
      await save('1.0.0', 'parameters:\n  port: 1\n', region);
      const other = path.replace(DEFAULT_ID, type.id);
      const diff = await ok(200, admin.get(`${other}?to=1.0.0&scopeValue=north`));
      expect(diff.hunks[0].lines[1].text).to.equal('  port: 1');
      await expectProblem(admin.get(`${other}?to=1.0.0&scopeValue=south`), 404, 'not_found');
      await expectProblem(admin.get(`${other}?to=1.0.0`), 400, 'validation_failed');
    });

    it('refuses what is missing or unknown', async () => {
      await expectProblem(compare('from=1.0.0'), 400, 'validation_failed');
      await expectProblem(compare('to=1.0.0&context=101'), 400, 'validation_failed');
      await expectProblem(compare('to=7.0.0'), 404, 'not_found');
      await expectProblem(compare('to=1.0.0&scopeValue=x'), 400, 'validation_failed');
    });
  });
});

const changeOf = ({ change }: { change: string }) => change;
