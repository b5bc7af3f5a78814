// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { DAY } from '../../src/lib/clock.ts';
import type { GitStore, ParameterScope } from '../../src/versions/store.ts';
import { entriesDuring } from '../support/audit-table.ts';
import { CONFIGURATIONS } from '../support/configurations.ts';
import { startHawser } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';
import {
  beside,
  cleanUp,
  deletedBy,
  NOTHING_KEPT,
  publishVersions,
  writeParameters,
} from '../support/retention.ts';
import { startedForEach } from '../support/started.ts';

const DEFAULT: ParameterScope = { scopeType: 'Default', value: null };
const PROD: ParameterScope = { scopeType: 'Environment', value: 'prod' };

describe('the cleanup of parameters', () => {
  const hawser = startedForEach(startHawser);
  let start: number;

  beforeEach(async () => {
    start = Date.now() - 100 * DAY;
  });

  const onDay = (days: number) => ({ at: start + days * DAY });
  const draft = (days: number) => ({ ...onDay(days), isDraft: true });
  const refs = (name: string) =>
    hawser.git(`parameters/${name}.git`, 'for-each-ref', '--format=%(refname:short)').trim().split('\n');

  /** What the work writes, the server knows afterwards. */
  async function written(work: (store: GitStore) => Promise<void>): Promise<void> {
    await beside(hawser, work);
    await hawser.restart();
  }

  it('counts by scope value and major, and takes drafts and superseded files alike', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '2.0.0');
    await written(async (store) => {
      await writeParameters(store, 'web', DEFAULT, {
        '1.0.0': onDay(1),
        '1.1.0': onDay(2),
        '1.2.0': onDay(3),
        '2.0.0': onDay(4),
      });
      await writeParameters(store, 'web', PROD, { '1.0.0': onDay(1), '1.1.0': draft(2), '1.2.0': onDay(3) });
    });
    const wish = { ...NOTHING_KEPT, keepVersions: 1 };
    const { result, entries } = await entriesDuring(hawser, () => cleanUp(hawser.admin, 'parameters', wish));
    expect(result).to.include({ versionType: 'Parameter', deletedCount: 4, keptCount: 3 });
    expect(deletedBy(result)).to.deep.equal([
      'web/Default 1.0.0',
      'web/Default 1.1.0',
      'web/Environment/prod 1.0.0',
      'web/Environment/prod 1.1.0',
    ]);
    expect(entries.map(({ action }) => action)).to.deep.equal([
      ...Array(4).fill('parameters.version_deleted'),
      'retention.run',
    ]);
    expect(refs('web')).to.deep.equal([
      'Default',
      'Environment',
      'Default/v1.2.0',
      'Default/v2.0.0',
      'Environment/prod/v1.2.0',
    ]);
    hawser.git('parameters/web.git', 'fsck', '--strict');
    expect(hawser.git('parameters/web.git', 'show', 'Environment:prod/parameters.yaml')).to.contain('1.2.0');
  });

  it('keeps releases where told so, but no drafts, and goes by the days', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0');
    await written((store) =>
      writeParameters(store, 'web', PROD, {
        '1.0.0': onDay(1),
        '1.1.0-rc.1': onDay(2),
        '1.1.0': onDay(3),
        '1.2.0-rc.1': onDay(99),
        '1.2.0': draft(4),
        '1.3.0': onDay(99.5),
      }),
    );
    const result = await cleanUp(hawser.admin, 'parameters', { keepVersions: 0, keepDays: 50 });
    expect(deletedBy(result)).to.deep.equal([
      'web/Environment/prod 1.1.0-rc.1',
      'web/Environment/prod 1.2.0',
    ]);
  });

  it('never deletes the file that a delivered version of the configuration takes', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '2.0.0');
    await written((store) =>
      writeParameters(store, 'web', PROD, {
        '1.0.0': onDay(1),
        '1.2.0-rc.1': onDay(2),
        '1.2.0-rc.2': onDay(3),
        '1.1.0': onDay(4),
      }),
    );
    const node = await hawser.registerNode('a.example.org');
    const assignment = `/api/v1/nodes/${node.nodeId}/configuration`;
    // There is no file of major 2, so whoever gets 2.0.0 gets the highest of major 1 that the channel admits.
    const wish = { configurationName: 'web', majorVersion: 2, prereleaseChannel: 'rc' };
    await ok(204, hawser.admin.put(assignment, wish));
    expect(deletedBy(await cleanUp(hawser.admin, 'parameters', NOTHING_KEPT))).to.deep.equal([
      'web/Environment/prod 1.0.0',
      'web/Environment/prod 1.2.0-rc.1',
    ]);
    await ok(204, hawser.admin.put(assignment, { ...wish, prereleaseChannel: null }));
    expect(deletedBy(await cleanUp(hawser.admin, 'parameters', NOTHING_KEPT))).to.deep.equal([
      'web/Environment/prod 1.2.0-rc.2',
    ]);
  });

  it("goes by the configuration's own retention, and leaves an exempt one alone", async () => {
    for (const name of ['own', 'exempt']) {
      await publishVersions(hawser.admin, name, '1.0.0');
      await written((store) =>
        writeParameters(store, name, DEFAULT, { '1.0.0': onDay(1), '1.1.0': onDay(2), '1.2.0': onDay(3) }),
      );
    }
    const set = (name: string, own: object) =>
      ok(200, hawser.admin.put(`${CONFIGURATIONS}/${name}/settings/retention`, own));
    await set('own', { keepVersions: 2 });
    await set('exempt', { enabled: false });
    const result = await cleanUp(hawser.admin, 'parameters', NOTHING_KEPT);
    expect(deletedBy(result)).to.deep.equal(['own/Default 1.0.0']);
    expect(result.keptCount).to.equal(5);
  });
});
