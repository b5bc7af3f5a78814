/**
 * The branch `rollout/<key>`: one commit for each transition of a rollout, with the file `rollout.json` alone. Reads and
 * writes its objects; no ref is moved here.
 */

import { NO_COUNTS, type RolloutRecord } from '../domain/rollout.ts';
import { parseRollout, printRollout, ROLLOUT_FILE } from '../domain/rollout-document.ts';
import { sign } from '../git/commits.ts';
import type { ObjectStore } from '../git/objects.ts';
import { decodeTree, writeTree } from '../git/tree.ts';
import { printRolloutMessage } from './rollout-messages.ts';
import type { RolloutMove } from './types.ts';
import type { Flaw } from './version-objects.ts';

/** What the tip of the branch says. */
export interface RolloutFacts {
  rollout: RolloutRecord;
}

/** A record of it has this time, which tells it from every other. */
const UNKNOWN_TIME = '1970-01-01T00:00:00.000Z';

/**
 * Stands for a record that cannot be read. The version stays closed to all but those that have taken it: to open it might
 * harm nodes, and to take it away from its holders might too.
 * @param tag the id of the version's tag; null for a rollout of files alone, whose files are not known then
 */
export function unreadableRollout(key: string, tag: string | null): RolloutRecord {
  const judging = { minNodes: 1, successShare: 1, maxRegressions: 0, maxSilent: null, maxAbsent: null };
  const gate = { ...judging, bakeTime: '01:00:00', deadline: '1.00:00:00', approval: true };
  const time = { startedAt: UNKNOWN_TIME, endedAt: null };
  const step = { ring: null, percent: 100, gate, state: 'Open', counts: NO_COUNTS, ...time } as const;
  const ends = { state: 'Halted', onHalt: 'Keep', isReverted: false } as const;
  const people = { approvedBy: null, createdBy: 'unknown', publishedBy: 'unknown' };
  const times = { createdAt: UNKNOWN_TIME, since: UNKNOWN_TIME };
  const rings = { scopeType: { id: NO_SCOPE_TYPE, name: 'unknown' }, step: 0, steps: [step] };
  const what = { key, version: tag === null ? null : key, tag, parameters: [] };
  return { ...what, ...rings, ...ends, ...people, ...times };
}

/** The nil UUID (RFC 9562, 5.9), which no scope type has. */
const NO_SCOPE_TYPE = '00000000-0000-0000-0000-000000000000';

export function isUnreadable({ createdAt }: RolloutRecord): boolean {
  return createdAt === UNKNOWN_TIME;
}

/**
 * Reads the commit that is named as the rollout of a version, or of parameter files.
 * @param version or the key of the files
 * @throws HawserError `repository_damaged` when an object is missing or broken
 */
export async function readRollout(
  objects: ObjectStore,
  gitdir: string,
  { oid, version }: { oid: string; version: string },
): Promise<RolloutFacts | Flaw> {
  const commit = await objects.readParsed(gitdir, oid, 'commit');
  const flaw = (fault: string) => ({ fault, stated: true, tag: null });
  if (commit === null) return flaw('The branch does not lead to a commit');
  const [file, ...others] = decodeTree(await objects.readBytes(gitdir, commit.tree, 'tree')) ?? [];
  if (file?.name !== ROLLOUT_FILE || others.length > 0 || !/^100[0-7]{3}$/.test(file.mode))
    return flaw(`The branch does not have the file "${ROLLOUT_FILE}" and nothing else`);
  const text = (await objects.readBytes(gitdir, file.oid, 'blob')).toString('utf8');
  const rollout = parseRollout(text);
  if (rollout === null) return flaw(`The file "${ROLLOUT_FILE}" cannot be used`);
  if (rollout.key !== version) return flaw(`The file "${ROLLOUT_FILE}" is that of another version`);
  return { rollout };
}

/**
 * Writes the record and the commit of a transition, and flushes them.
 * @param name of the repository
 * @param parent the commit of the transition before; null for the first
 * @returns the id of the commit
 */
export async function writeRollout(
  objects: ObjectStore,
  { gitdir, name }: { gitdir: string; name: string },
  parent: string | null,
  { record, message, author: person, at }: RolloutMove,
): Promise<string> {
  const content = Buffer.from(printRollout(record));
  const { tree } = await writeTree(objects, gitdir, [{ path: ROLLOUT_FILE, content }]);
  const author = sign(person, at);
  return objects.writeCommit(gitdir, {
    tree,
    parent: parent === null ? [] : [parent],
    author,
    committer: author,
    message: printRolloutMessage(`${name} ${record.key}`, record.state, message, at),
  });
}
