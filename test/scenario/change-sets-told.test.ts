// everyday: SQLite
/** What is told of change sets beside themselves: the activity, and the events of their deeds. */

import { expect } from 'chai';
import { listVisible } from '../../src/db/activity.ts';
import { addEntries } from '../support/audit-table.ts';
import { allEvents, proposed, setOf } from '../support/change-sets.ts';
import type { Client } from '../support/client.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { untilNumbered } from '../support/events.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { publishing } from '../support/previews.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const NOTHING = { Node: [], Configuration: [], Parameters: [], CompositeConfiguration: [] } as const;
const NODE_ENTRY = { resource_type: 'Node', resource_id: 'x', action: 'node.tagged' } as const;

interface Entry {
  resourceType: string;
  resourceId: string;
  resourceName: string | null;
  summary: string;
}

describe('what is told of a change set', () => {
  const hawser = started(startHawser);
  let set: { id: number; digest: string };
  before(async () => {
    for (const name of ['web', 'db']) {
      await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: '{}' } });
      await ok(201, addVersion(hawser.admin, name, { version: '1.1.0' }));
    }
    set = await proposed(hawser.admin, [publishing('web', '1.1.0')], { title: 'Faster' });
    await ok(200, hawser.admin.post(`${setOf(set)}/apply`, { digest: set.digest }));
  });

  const activity = (client: Client): Promise<Entry[]> => ok(200, client.get('/api/v1/activity'));

  it('is an entry of the activity, and each of its deeds names it', async () => {
    const entries = await activity(hawser.admin);
    expect(entries.slice(0, 3).map(({ summary }) => summary)).to.have.members([
      `The change set ${set.id}, Faster, was applied`,
      `Version 1.1.0 of web was published, by change set ${set.id}`,
      `The change set ${set.id}, Faster, was proposed`,
    ]);
    const own = entries.filter(({ resourceType }) => resourceType === 'ChangeSet');
    expect(own.map(({ resourceId, resourceName }) => [resourceId, resourceName])).to.deep.equal([
      ...[
        [String(set.id), 'Faster'],
        [String(set.id), 'Faster'],
      ],
    ]);
  });

  it('is in the activity of those alone who may read something that it names', async () => {
    const seenBy = async (username: string, name: string) => {
      const grants = [{ on: 'configuration', name, level: 'Read' } as const];
      const entries = await activity(await makeUser(hawser, { username, grants }));
      return entries.some(({ resourceType }) => resourceType === 'ChangeSet');
    };
    expect(await seenBy('ann', 'web')).to.equal(true);
    expect(await seenBy('ben', 'db')).to.equal(false);
  });

  it('is looked for on the pages of the activity alone, however many sets there are', async () => {
    const now = Date.now();
    const [type, action] = ['ChangeSet', 'change_set.created'] as const;
    await addEntries(
      hawser,
      Array.from({ length: 60 }, (_, at) => ({
        ...{ resource_type: type, resource_id: String(1_000 + at), action, timestamp: now + at },
      })),
    );
    await withDatabase(hawser, async ({ read }) => {
      const asked: string[] = [];
      const all = await listVisible(read, NOTHING, {
        ...{ take: 3, before: undefined },
        async sight(ids) {
          asked.push(...ids);
          return new Set(ids.filter((id) => Number(id) % 2 === 0));
        },
      });
      expect(all.map(({ resource_id }) => resource_id)).to.deep.equal(['1058', '1056', '1054']);
      expect(asked.length).to.be.lessThan(10);
      // What the others have that is newer ends the search.
      asked.length = 0;
      await addEntries(
        hawser,
        [1, 2, 3].map((at) => ({ ...NODE_ENTRY, timestamp: now + 1_000 + at })),
      );
      const nodes = await listVisible(
        read,
        { ...NOTHING, Node: 'all' },
        {
          ...{ take: 3, before: undefined },
          async sight(ids) {
            asked.push(...ids);
            return new Set();
          },
        },
      );
      expect([nodes.map(({ resource_type }) => resource_type), asked]).to.deep.equal([
        ...[['Node', 'Node', 'Node'], []],
      ]);
    });
  });

  it('is named by the events of its deeds', async () => {
    await untilNumbered(hawser);
    const published = (await allEvents(hawser)).filter(
      ({ type }) => type === 'configuration.version_published',
    );
    const { data } = published.find((each) => each.data['version'] === '1.1.0') ?? {};
    expect(data).to.include({ name: 'web', changeSetId: set.id });
  });
});
