import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { RowQuery } from '../../../src/db/reading.ts';
import { deletePreview, insertPreview, insertResult, readContents } from '../../../src/deeds/preview-rows.ts';
import { newId } from '../../../src/lib/ids.ts';
import { LinesWriter } from '../../../src/resolve/kept-lines.ts';
import { type NodeFilter, previewQuestions } from '../../../src/resolve/preview-questions.ts';
import type { KeptNode, PreviewChange } from '../../../src/resolve/preview-types.ts';
import { fleetOf, fleetThatKept } from '../../support/preview-site.ts';
import { temporarySqlite } from '../../support/temporary.ts';

const NODES = 2_350;
/** Every fifth node is unchanged. The first 1,500 others are in group 1, ten in group 2, and each further one is alone. */
const nodes = Array.from({ length: NODES }, (_, at) => {
  const place = at - Math.ceil(at / 5);
  const groupId = at % 5 === 0 ? null : place < 1_500 ? 1 : place < 1_510 ? 2 : place - 1_507;
  const change: PreviewChange =
    groupId === null ? 'Unchanged' : groupId % 2 === 0 ? 'Unresolvable' : 'Changed';
  const content = groupId === null ? 0 : groupId % 3;
  return { nodeId: newId(), fqdn: `node-${String(at).padStart(5, '0')}`, groupId, change, content };
});
const asked = nodes.map(({ content: _, ...node }) => ({
  ...node,
  groupId: node.groupId === null ? null : String(node.groupId),
}));

/** What of the nodes a reader may see, by the numbers of their contents. */
const seeing = (...contents: number[]) => [0, 1, 2].map((content) => contents.includes(content));
const ALL = seeing(0, 1, 2);
const id = newId();

function kept(lines: readonly unknown[]): Buffer {
  const writer = new LinesWriter();
  for (const line of lines) writer.add(JSON.stringify(line));
  return writer.end();
}

const keptNodes = nodes.map(
  ({ nodeId, fqdn, groupId, change, content }): KeptNode => [nodeId, fqdn, groupId, change, content],
);
const groupIds = [...new Set(nodes.map(({ groupId }) => groupId))].flatMap((groupId) => groupId ?? []);
const groups = groupIds
  .sort((a, b) => a - b)
  .map((groupId) => {
    const members = nodes.filter((node) => node.groupId === groupId);
    const sampleNodes = members.slice(0, 5).map(({ nodeId, fqdn }) => ({ nodeId, fqdn }));
    // Long enough that they are compressed in several blocks, which end in the middle of a line's neighbours.
    const newProblems = [{ path: `/${'\u{1F600}'.repeat(2_000)}`, message: '', code: 'type' }];
    const { change, content } = members[0] as (typeof nodes)[number];
    return { nodeCount: members.length, sampleNodes, change, content, newProblems };
  });

describe('what a preview found', () => {
  const database = temporarySqlite('all tests');
  const { previewNodes, previewGroups, previewGroup } = previewQuestions(
    fleetThatKept({ nodes: kept(keptNodes), groups: kept(groups) }),
  );

  const filters: [string, NodeFilter][] = [
    ['no filter', {}],
    ['a change', { change: 'Changed' }],
    ['what does not change', { change: 'Unchanged' }],
    ['what cannot be resolved', { change: 'Unresolvable' }],
    ['a large group', { groupId: '1' }],
    ['a group of ten', { groupId: '2' }],
    ['a group of one', { groupId: '77' }],
    ['a group that changes otherwise', { groupId: '1', change: 'Unresolvable' }],
    ['a group and its change', { groupId: '2', change: 'Unresolvable' }],
    ['no such group', { groupId: '9999' }],
    ['what is no number of a group', { groupId: '01' }],
  ];
  for (const [name, filter] of filters) {
    it(`is listed page by page: ${name}`, async () => {
      const { change, groupId } = filter;
      const expected = asked.filter(
        (node) =>
          (change === undefined || node.change === change) &&
          (groupId === undefined || node.groupId === groupId),
      );
      for (const [take, skip] of [
        [100, 0],
        [1_000, 700],
        [3, 9],
        [1_000, 1_499],
        [10, 5_000],
      ] as const) {
        const page = await previewNodes({ id, visible: ALL, filter, take, skip });
        expect(page.total).to.equal(expected.length);
        expect(page.rows, `${take} after ${skip}`).to.deep.equal(expected.slice(skip, skip + take));
      }
    });
  }

  it('leaves out what a reader may not see, with groups under the ids that they have for all', async () => {
    const visible = seeing(0, 2);
    const contentOf = new Map(nodes.map((node) => [node.nodeId, node.content]));
    const seen = (all: typeof asked) => all.filter(({ nodeId }) => contentOf.get(nodeId) !== 1);
    for (const change of [undefined, 'Changed', 'Unresolvable', 'Unchanged'] as const) {
      const expected = seen(asked).filter((node) => (change ?? node.change) === node.change);
      const page = await previewNodes({ id, visible, filter: { change }, take: 50, skip: 20 });
      expect(page.total).to.equal(expected.length);
      expect(page.rows).to.deep.equal(expected.slice(20, 70));
    }
    for (const groupId of ['1', '4']) {
      const hidden = await previewNodes({ id, visible, filter: { groupId }, take: 10, skip: 0 });
      expect(hidden).to.deep.equal({ rows: [], total: 0 });
    }
    expect(await previewGroup({ id, visible, groupId: '1' })).to.equal(undefined);
    const shown = await previewGroups({ id, visible, take: 10, skip: 2 });
    expect(shown.map((group) => group.id)).to.deep.equal([
      '5',
      '6',
      '8',
      '9',
      '11',
      '12',
      '14',
      '15',
      '17',
      '18',
    ]);
    expect(await previewGroup({ id, visible, groupId: '5' })).to.deep.equal(shown[0]);
  });

  it('has its groups in the order of their ids', async () => {
    const find = (groupId: string) => previewGroup({ id, visible: ALL, groupId });
    const all = await previewGroups({ id, visible: ALL, take: 1_000, skip: 0 });
    expect(all).to.deep.equal(groups.map((group, at) => ({ id: String(at + 1), ...group })));
    expect(await previewGroups({ id, visible: ALL, take: 7, skip: 198 })).to.deep.equal(all.slice(198, 205));
    for (const at of [0, 1, 199, 200, 371]) expect(await find(String(at + 1))).to.deep.equal(all[at]);
    for (const none of [String(all.length + 1), '0', '01', 'x']) expect(await find(none)).to.equal(undefined);
  });

  it('is kept in as many rows as it takes, and read as a whole', async () => {
    const { write } = database();
    const counts = { nodes: 0, changed: 0, unchanged: 0, unresolvable: 0, not_visible: 0, group_count: null };
    await insertPreview(write, {
      ...{ id, user_id: newId(), maker: newId(), state: 'Running', created_at: 0, completed_at: null },
      ...{ expires_at: 1, changes: '[]', findings: '[]', warnings: '[]', named: '[]', is_narrowed: 0 },
      ...{ ...counts, error: null },
    });
    const line = JSON.stringify(randomBytes(600_000).toString('hex'));
    const columns = { groups: kept(groups), nodes: kept(keptNodes), details: kept([JSON.parse(line)]) };
    await insertResult(write, id, { contents: '[{}]', columns });
    expect(await readContents(write, id)).to.equal('[{}]');
    const read = async ({ sql: text }: RowQuery) => {
      const { rows } = await sql.raw<object>(text.replace('?', `'${id}'`)).execute(write);
      expect(rows, 'one row is not enough').to.have.length.above(2);
      return rows.map((row) => Object.values(row));
    };
    const stored = previewQuestions(fleetOf(read));
    expect(String(await stored.previewDetails({ id, line: 0 }))).to.equal(line);
    const page = { id, visible: ALL, take: 3, skip: 370 };
    expect(await stored.previewGroups(page)).to.deep.equal(await previewGroups(page));
    await deletePreview(write, id);
    expect(await readContents(write, id)).to.equal('[]');
  });
});
