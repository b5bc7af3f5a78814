/**
 * Asks for previews of random changes, makes the changes, and compares each node's answer with what was said. Half of them are
 * made one by one, and half as a change set, some of which are taken back then.
 */

import { expect } from 'chai';
import { propose, setOf } from './change-sets.ts';
import type { Reply } from './client.ts';
import { eventually } from './eventually.ts';
import type { Hawser, NodeUnderTest } from './hawser.ts';
import { poll } from './parameter-files.ts';
import { askFor, groupOf, groupsOf, nodesOf, PREVIEWS, type Wish } from './previews.ts';
import { RandomSite } from './random-site.ts';
import { ok } from './replies.ts';

/** How a node's poll is answered. */
interface Answer {
  checksum: string | null;
  /** The code of an error; null where the node gets something. */
  code: string | null;
  offered: { configurationName: string; version: string; checksum: string } | null;
}

type Answers = Map<string, Answer>;

/** What became of the previews that were asked for. */
export interface Tally {
  made: number;
  refused: number;
  changed: number;
  unresolvable: number;
  /** How many were change sets that were applied, and how many of these were taken back. */
  applied: number;
  takenBack: number;
}

/**
 * @param rounds the number of previews
 * @param seed the same seed gives the same site and the same changes
 */
export async function checkPreviews(hawser: Hawser, rounds: number, seed: number, nodes = 8): Promise<Tally> {
  const site = new RandomSite(hawser, seed);
  await site.prepare(nodes);
  const tally: Tally = { made: 0, refused: 0, changed: 0, unresolvable: 0, applied: 0, takenBack: 0 };
  for (let at = 0; at < 40; at += 1) {
    if (at % 8 === 0) await site.look();
    await site.mutate();
  }
  for (let round = 0; round < rounds; round += 1) {
    for (let at = site.below(4); at > 0; at -= 1) await site.mutate();
    await site.look();
    const changes = Array.from({ length: 1 + site.below(3) }, () => site.change());
    await checkPreview(hawser, site, changes, tally).catch((error) => {
      throw new Error(`seed ${seed}, round ${round}, ${JSON.stringify(changes).slice(0, 2_000)}`, {
        cause: error,
      });
    });
  }
  return tally;
}

async function checkPreview(
  hawser: Hawser,
  site: RandomSite,
  changes: readonly Wish[],
  tally: Tally,
): Promise<void> {
  const { admin } = hawser;
  const before = await pollAll(site.nodes);
  const isSet = site.below(2) === 0;
  const asked = await (isSet ? propose(admin, changes) : askFor(admin, changes));
  expect(asked.status, asked.text).to.be.oneOf([201, 202, 400, 409]);
  if (asked.status >= 400) return checkRefusal(asked, await carryOutAll(site, changes), tally);
  const made = isSet ? await admin.post(`${setOf(asked.json)}/preview`) : asked;
  const preview = await eventually(async () => {
    const now = await ok(200, admin.get(`${PREVIEWS}/${made.json.id}`));
    expect(now.state, now.error).to.equal('Done');
    return now;
  });
  expect(await pollAll(site.nodes), 'a preview changes nothing').to.deep.equal(before);
  if (isSet) await apply(hawser, asked.json, preview.counts);
  else {
    const refusal = await carryOutAll(site, changes);
    expect(refusal?.reply.text, 'previewed, and refused').to.equal(undefined);
  }
  const after = await pollAll(site.nodes);
  const expected = expectedFrom(site.nodes, before, after);
  const nodes = await nodesOf(admin, preview, '?take=1000');
  expect(toChanges(nodes)).to.deep.equal(expected.changes);
  expect(preview.counts).to.deep.equal(expected.counts);
  await checkGroups(admin, preview, { nodes, before, after });
  tally.made += 1;
  tally.changed += expected.counts.changed;
  tally.unresolvable += expected.counts.unresolvable;
  if (!isSet) return;
  tally.applied += 1;
  if (site.below(2) === 0) return;
  const back = await admin.post(`${setOf(asked.json)}/revert`);
  if (back.status === 409) {
    expect([back.json.code, after], back.text).to.deep.equal(['nothing_to_revert', before]);
    return;
  }
  await apply(hawser, await ok(201, back));
  expect(await pollAll(site.nodes), 'taken back').to.deep.equal(before);
  tally.takenBack += 1;
}

/** Applies a change set, which must change as many nodes as its preview says. */
async function apply(
  { admin }: Hawser,
  set: { id: number; digest: string },
  counts?: { changed: number; unresolvable: number },
): Promise<void> {
  const expectedChanged = counts && counts.changed + counts.unresolvable;
  await ok(
    200,
    admin.post(`${setOf(set)}/apply`, { digest: set.digest, ...(counts && { expectedChanged }) }),
  );
}

/** A preview is refused for the change that is the first to be refused when all are made. */
function checkRefusal(asked: Reply, refusal: { index: number; reply: Reply } | null, tally: Tally): void {
  tally.refused += 1;
  expect(refusal, `refused with ${asked.text}, and carried out`).to.not.equal(null);
  const [fault] = asked.json.errors;
  expect(Number(fault.path.split('/')[2]), asked.text).to.equal(refusal?.index);
  const { status, json } = refusal?.reply ?? { status: 0, json: {} };
  expect([asked.status, asked.json.code], asked.text).to.deep.equal(
    status === 404 ? [409, 'not_found'] : [status, json.code],
  );
}

async function pollAll(nodes: readonly NodeUnderTest[]): Promise<Answers> {
  const answers: Answers = new Map();
  for (const node of nodes) {
    const { status, json } = await poll(node);
    const { checksum, configurationName, version, code } = json;
    const isOffered = status === 200;
    answers.set(node.nodeId, {
      checksum: isOffered ? checksum : null,
      code: isOffered ? null : code,
      offered: isOffered ? { configurationName, version, checksum } : null,
    });
  }
  return answers;
}

async function carryOutAll(site: RandomSite, changes: readonly Wish[]) {
  for (const [index, change] of changes.entries()) {
    const reply = await site.carryOut(change);
    if (reply !== undefined) return { index, reply };
  }
  return null;
}

function changeOf(before: Answer | undefined, after: Answer | undefined): string {
  if (before?.checksum === after?.checksum) return 'Unchanged';
  return after?.checksum === null ? 'Unresolvable' : 'Changed';
}

function expectedFrom(nodes: readonly NodeUnderTest[], before: Answers, after: Answers) {
  const sorted = [...nodes].sort((a, b) => (a.fqdn < b.fqdn ? -1 : 1));
  const changes = sorted.map(({ nodeId, fqdn }) => ({
    ...{ nodeId, fqdn },
    change: changeOf(before.get(nodeId), after.get(nodeId)),
  }));
  const count = (change: string) => changes.filter((each) => each.change === change).length;
  const [changed, unchanged, unresolvable] = ['Changed', 'Unchanged', 'Unresolvable'].map(count);
  const counts = { nodes: nodes.length, changed, unchanged, unresolvable, notVisible: 0 } as Record<
    string,
    number
  > & { changed: number; unresolvable: number };
  return { changes, counts };
}

interface PreviewedNode {
  nodeId: string;
  fqdn: string;
  groupId: string | null;
  change: string;
}

function toChanges(nodes: readonly PreviewedNode[]) {
  return nodes.map(({ nodeId, fqdn, change }) => ({ nodeId, fqdn, change }));
}

/** Each group holds exactly the nodes whose answers are the same before, and the same after. */
async function checkGroups(
  admin: Hawser['admin'],
  preview: { id: string; groupCount: number },
  { nodes, before, after }: { nodes: readonly PreviewedNode[]; before: Answers; after: Answers },
): Promise<void> {
  const groups = await groupsOf(admin, preview, '?take=1000');
  expect(groups).to.have.length(preview.groupCount);
  const seen = new Set<string>();
  for (const group of groups) {
    const own = nodes.filter(({ groupId }) => groupId === group.id);
    expect(own.length, 'nodes of the group').to.equal(group.nodeCount);
    const keys = own.map(({ nodeId }) => {
      const [old, next] = [before.get(nodeId), after.get(nodeId)];
      return `${old?.checksum} ${next?.checksum ?? next?.code}`;
    });
    expect(new Set(keys), 'nodes of a group change alike').to.have.length(1);
    expect(seen.has(keys[0] ?? ''), 'nodes that change alike are one group').to.equal(false);
    seen.add(keys[0] ?? '');
    const { nodeId = '' } = own[0] ?? {};
    expect(group.before).to.deep.equal(before.get(nodeId)?.offered ?? null);
    expect(group.after).to.deep.equal(after.get(nodeId)?.offered ?? null);
    expect(group.sampleNodes).to.deep.equal(
      own.slice(0, 5).map((node) => ({ nodeId: node.nodeId, fqdn: node.fqdn })),
    );
    const { code, parameters } = await groupOf(admin, preview, group.id);
    if (group.change === 'Unresolvable') expect(code).to.equal(after.get(nodeId)?.code);
    expect(parameters).to.have.length(group.parameterChanges);
  }
  const unchanged = nodes.filter(({ groupId }) => groupId === null);
  expect(unchanged.every(({ change }) => change === 'Unchanged')).to.equal(true);
}
