import { expect } from 'chai';
import { FoundGroups, FoundNodes, type NodeFilter } from '../../../../src/api/previews/found.ts';
import { PieceWriter } from '../../../../src/api/previews/piece-writer.ts';
import { insertPreview } from '../../../../src/api/previews/queries.ts';
import { newId } from '../../../../src/lib/ids.ts';
import type { PreviewNode } from '../../../../src/resolve/preview-types.ts';
import { temporarySqlite } from '../../../support/temporary.ts';

const NODES = 2_350;
/** Every fifth node is unchanged. The first 1,500 others are in group 1, ten in group 2, and each further one is alone. */
const nodes: PreviewNode[] = Array.from({ length: NODES }, (_, at) => {
  const place = at - Math.ceil(at / 5);
  const groupId = at % 5 === 0 ? null : place < 1_500 ? 1 : place < 1_510 ? 2 : place - 1_507;
  const change = groupId === null ? 'Unchanged' : groupId % 2 === 0 ? 'Unresolvable' : 'Changed';
  const content = groupId === null ? 0 : groupId % 3;
  return { nodeId: newId(), fqdn: `node-${String(at).padStart(5, '0')}`, groupId, change, content };
});
const asked = nodes.map(({ content: _, ...node }) => ({
  ...node,
  groupId: node.groupId === null ? null : String(node.groupId),
}));

/** What of the nodes a reader may see, by the numbers of their contents. */
const seeing = (...contents: number[]) => ({
  isAll: contents.length === 3,
  has: (content: number) => contents.includes(content),
  countOf: (change?: PreviewNode['change']) =>
    nodes.filter((node) => contents.includes(node.content) && (change ?? node.change) === node.change).length,
});
const ALL = seeing(0, 1, 2);

describe('what a preview found', () => {
  const id = newId();
  const database = temporarySqlite('all tests');

  before(async () => {
    await insertPreview(database().write, {
      ...{ id, user_id: newId(), maker: newId(), state: 'Running', created_at: 0, completed_at: null },
      ...{
        expires_at: 1,
        changes: '[]',
        findings: '[]',
        warnings: '[]',
        named: '[]',
        is_narrowed: 0,
        nodes: 0,
        changed: 0,
        unchanged: 0,
      },
      ...{ unresolvable: 0, not_visible: 0, group_count: null, error: null },
    });
    const writer = new PieceWriter(database().write, id);
    const groups = [...new Set(nodes.map(({ groupId }) => groupId))]
      .flatMap((groupId) => groupId ?? [])
      .sort((a, b) => a - b);
    const shown = groups.map((groupId) => {
      const members = nodes.filter((node) => node.groupId === groupId);
      const sampleNodes = members.slice(0, 5).map(({ nodeId, fqdn }) => ({ nodeId, fqdn }));
      // Long enough that a piece of the engine becomes several here.
      const newProblems = [{ path: `/${'x'.repeat(2_000)}`, message: '', code: 'type' }];
      const change = members[0]?.change;
      const content = members[0]?.content;
      return {
        shown: JSON.stringify({ nodeCount: members.length, sampleNodes, change, content, newProblems }),
      };
    });
    for (let from = 0; from < shown.length; from += 200)
      await writer.write({
        kind: 'groups',
        groups: shown.slice(from, from + 200),
        packed: `packed from ${from}`,
      });
    await writer.write({ kind: 'files', files: '"\u{1F600}'.repeat(200_000) });
    for (let from = 0; from < NODES; from += 1_000)
      await writer.write({ kind: 'nodes', nodes: nodes.slice(from, from + 1_000) });
  });

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
    it(`is listed page by page and as a whole: ${name}`, async () => {
      const { change, groupId } = filter;
      const expected = asked.filter(
        (node) =>
          (change === undefined || node.change === change) &&
          (groupId === undefined || node.groupId === groupId),
      );
      const found = new FoundNodes(database().read, id, filter, ALL);
      for (const [take, skip] of [
        [100, 0],
        [1_000, 700],
        [3, 9],
        [1_000, 1_499],
        [10, 5_000],
      ] as const) {
        const page = await found.page({ take, skip });
        expect(page.total).to.equal(expected.length);
        expect(page.rows, `${take} after ${skip}`).to.deep.equal(expected.slice(skip, skip + take));
      }
      const whole = [];
      for await (const slice of found.whole()) whole.push(...slice);
      expect(whole).to.deep.equal(expected);
    });
  }

  it('leaves out what a reader may not see, with groups under the ids that they have for all', async () => {
    const visible = seeing(0, 2);
    const contentOf = new Map(nodes.map((node) => [node.nodeId, node.content]));
    const seen = (all: typeof asked) => all.filter(({ nodeId }) => contentOf.get(nodeId) !== 1);
    for (const change of [undefined, 'Changed', 'Unresolvable', 'Unchanged'] as const) {
      const expected = seen(asked).filter((node) => (change ?? node.change) === node.change);
      const found = new FoundNodes(database().read, id, { change }, visible);
      const page = await found.page({ take: 50, skip: 20 });
      expect(page.total).to.equal(expected.length);
      expect(page.rows).to.deep.equal(expected.slice(20, 70));
      const whole = [];
      for await (const slice of found.whole()) whole.push(...slice);
      expect(whole).to.have.length(expected.length);
    }
    for (const groupId of ['1', '4']) {
      const hidden = new FoundNodes(database().read, id, { groupId }, visible);
      expect(await hidden.page({ take: 10, skip: 0 })).to.deep.equal({ rows: [], total: 0 });
    }
    const groups = new FoundGroups(database().read, id, visible);
    expect(await groups.find('1')).to.equal(undefined);
    const shown = await groups.page({ take: 10, skip: 2 });
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
    expect(await groups.find('5')).to.deep.equal(shown[0]);
  });

  it('has its groups in the order of their ids, each with what its details are made of', async () => {
    const groups = new FoundGroups(database().read, id, ALL);
    const all = await groups.page({ take: 1_000, skip: 0 });
    expect(all.map((group) => group.id)).to.deep.equal(all.map((_, at) => String(at + 1)));
    expect(await groups.page({ take: 7, skip: 198 })).to.deep.equal(all.slice(198, 205));
    for (const at of [0, 1, 199, 200, 371]) {
      const group = await groups.find(String(at + 1));
      expect(group).to.deep.equal(all[at]);
      if (group === undefined) continue;
      const { piece, at: place, files } = await groups.keptText(group);
      expect(`${piece} at ${place}`).to.equal(`packed from ${Math.floor(at / 200) * 200} at ${at % 200}`);
      expect(files).to.equal('"\u{1F600}'.repeat(200_000));
    }
    expect(await groups.find(String(all.length + 1))).to.equal(undefined);
  });
});
