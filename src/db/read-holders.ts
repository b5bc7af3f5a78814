/**
 * Reads what nodes have taken: the versions in the manifest that a node runs, by evidence Served or Declared. One that was
 * told of something else since, and has not fetched it, still has the last bundle that it got.
 */

import { sql } from 'kysely';

import type { RolloutRecord, ScopeIds } from '../domain/rollout.ts';
import { type HeldPart, hasTaken } from '../domain/rollout-holder.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import type { ManifestContent } from './manifests.ts';
import type { Evidence } from './node-tables.ts';
import type { Reading } from './reading.ts';

/** The manifest that a node has taken. */
export interface Held {
  configurationName: string;
  isComposite: boolean;
  version: string;
  parts: ManifestContent['parts'];
}

/** A configuration or a composite. */
interface Named {
  kind: string;
  name: string;
}

/** The checksum of what a node has taken, which a row `r` of `node_running` names. */
export const TAKEN = `case r.evidence when '${'Told' satisfies Evidence}' then served_checksum else r.checksum end`;

/**
 * Whether what rolls out is in the manifest: the composite itself, or of a configuration the version and the files.
 * @param scopes those of the node
 */
export function holds(
  held: Held | undefined,
  { kind, name }: Named,
  record: Pick<RolloutRecord, 'version' | 'parameters'>,
  scopes: readonly ScopeIds[],
): boolean {
  if (held === undefined) return false;
  if (kind === 'composites')
    return held.isComposite && held.configurationName === name && held.version === record.version;
  return hasTaken(
    held.parts.find((part) => part.configurationName === name),
    record,
    scopes,
  );
}

/** By the ids of the nodes. Those are left out that have taken nothing. */
export async function readHeld(db: Db, nodeIds: readonly string[]): Promise<ReadonlyMap<string, Held>> {
  const rows = await db
    .selectFrom('node_running as r')
    .innerJoin('manifests as m', (join) => join.on('m.checksum', '=', sql.raw<string>(TAKEN)))
    .select(['r.node_id', 'm.configuration_name', 'm.is_composite', 'm.version', 'm.content'])
    .where(engineOf(db).isOneOf('r.node_id', nodeIds))
    .execute();
  return new Map(
    rows.map((row) => [
      row.node_id,
      {
        configurationName: row.configuration_name,
        isComposite: row.is_composite === 1,
        version: row.version,
        parts: partsIn(row.content),
      },
    ]),
  );
}

const partsIn = (content: string) => (JSON.parse(content) as ManifestContent).parts;

const SELECT_CHECKSUMS = {
  configurations: 'select checksum from manifest_parts where configuration_name = ? and version = ?',
  composites: `select checksum from manifests
    where configuration_name = ? and version = ? and is_composite = 1`,
};

const SELECT_TAKEN = `select node_id, ${TAKEN} from node_running r`;

/** The checksums of all manifests that are kept with the version. */
export function* readingChecksums({ kind, name }: Named, version: string): Reading<ReadonlySet<string>> {
  const checksums = new Set<string>();
  yield {
    sql: kind === 'composites' ? SELECT_CHECKSUMS.composites : SELECT_CHECKSUMS.configurations,
    values: [name, version],
    take: ([checksum]: [string]) => void checksums.add(checksum),
  };
  return checksums;
}

/** The ids of all nodes that have taken the version. */
export function* readingHolders(named: Named, version: string): Reading<ReadonlySet<string>> {
  const checksums = yield* readingChecksums(named, version);
  const nodeIds = new Set<string>();
  yield {
    sql: SELECT_TAKEN,
    take([nodeId, checksum]: [string, string | null]) {
      if (checksum !== null && checksums.has(checksum)) nodeIds.add(nodeId);
    },
  };
  return nodeIds;
}

const SELECT_PARTS = `select m.checksum, m.content from manifest_parts p join manifests m on m.checksum = p.checksum
    where p.configuration_name = ?
      and exists (select 1 from checksum_uses u where u.checksum = p.checksum and u.uses > 0)`;

/** What each node has taken of a configuration, by its id. Each manifest is read, so this is for few looks. */
export function* readingParts(configurationName: string): Reading<ReadonlyMap<string, HeldPart>> {
  const parts = new Map<string, HeldPart>();
  yield {
    sql: SELECT_PARTS,
    values: [configurationName],
    take([checksum, content]: [string, string]) {
      const part = partsIn(content).find((each) => each.configurationName === configurationName);
      if (part) parts.set(checksum, part);
    },
  };
  const held = new Map<string, HeldPart>();
  yield {
    sql: SELECT_TAKEN,
    take([nodeId, checksum]: [string, string | null]) {
      const part = checksum === null ? undefined : parts.get(checksum);
      if (part) held.set(nodeId, part);
    },
  };
  return held;
}
