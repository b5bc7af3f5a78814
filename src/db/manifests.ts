/** The manifests that are kept: what each checksum stands for that a node runs or a report names. Triggers delete them. */

import { sql } from 'kysely';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import type { ServedBundle } from './running.ts';

/** An annotated tag of a version. The time is RFC 3339. */
export interface ManifestTag {
  objectId: string;
  commit: string;
  /** The name of the tagger. */
  tagger: string;
  taggedAt: string;
}

/** A parameter file that was merged. */
export interface ManifestParameterFile {
  scopeTypeName: string;
  /** It is null for Default. */
  scopeValue: string | null;
  /** The same by ids, the value's or the node's, as names may become those of others. What was kept before has neither. */
  scopeTypeId?: string;
  scopeValueId?: string | null;
  version: string;
  tagObjectId: string;
  /** SHA-256 of the content in hexadecimal. */
  checksum: string;
}

/** What is kept of a manifest as JSON. */
export interface ManifestContent {
  tag: ManifestTag;
  entryPoint: string;
  /** The configurations in the order of the composite; a configuration is its own single part. */
  parts: readonly {
    configurationName: string;
    version: string;
    tag: ManifestTag;
    /** In the order of merging, lowest precedence first, without those that skip their scope. */
    parameters: readonly ManifestParameterFile[];
    /** What was kept before there was a second version of merging has neither, and was merged by the first one. */
    mergeVersion?: 1 | 2;
    /** The variables that were replaced, with their values; null where none are. */
    variables?: Readonly<Record<string, string>> | null;
  }[];
}

/** A manifest that is to be kept. */
export interface ManifestRecord {
  checksum: string;
  configurationName: string;
  isComposite: boolean;
  version: string;
  content: ManifestContent;
}

/** A manifest that is kept. */
export interface KeptManifest extends ManifestRecord {
  /** SHA-256 of the ZIP in base64; null until a bundle of it was served. */
  bundleDigest: string | null;
  /** Epoch milliseconds; null until a bundle of it was served. */
  firstServedAt: number | null;
}

/** The names in the manifests of these checksums, as far as they are kept. */
export async function namesOf(
  db: Db,
  all: readonly { checksum: string | null }[],
): Promise<Map<string, { configurationName: string; version: string }>> {
  const checksums = [...new Set(all.flatMap(({ checksum }) => checksum ?? []))];
  if (checksums.length === 0) return new Map();
  const rows = await db
    .selectFrom('manifests')
    .select(['checksum', 'configuration_name as configurationName', 'version'])
    .where(engineOf(db).isOneOf('checksum', checksums))
    .execute();
  return new Map(rows.map(({ checksum, ...names }) => [checksum, names]));
}

/** The manifest of a checksum in lower case; undefined as soon as no node, no report and nothing that ran names it. */
export async function findManifest(db: Db, checksum: string): Promise<KeptManifest | undefined> {
  const row = await db
    .selectFrom('manifests')
    .selectAll()
    .where('checksum', '=', checksum)
    .executeTakeFirst();
  return (
    row && {
      checksum: row.checksum,
      configurationName: row.configuration_name,
      isComposite: row.is_composite === 1,
      version: row.version,
      content: JSON.parse(row.content) as ManifestContent,
      bundleDigest: row.bundle_digest,
      firstServedAt: row.first_served_at,
    }
  );
}

/** Those of some checksums of which no manifest is kept. */
export async function missingManifests(db: Db, checksums: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ checksum: string }>`select value as checksum
    from ${engineOf(db).texts(checksums)} given
    where not exists (select 1 from manifests where manifests.checksum = given.value)`.execute(db);
  return rows.map(({ checksum }) => checksum);
}

/** Those of some checksums that a node or a report names and of which no manifest is kept. */
export async function lackingManifests(db: Db, checksums: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ checksum: string }>`select checksum from checksum_uses
    where ${engineOf(db).isOneOf('checksum', checksums)}
      and not exists (select 1 from manifests where manifests.checksum = checksum_uses.checksum)`.execute(db);
  return rows.map(({ checksum }) => checksum);
}

/** Keeps manifests that a node or a report names. One that is kept already stays what it is. */
export async function keepManifests(trx: Db, records: readonly ManifestRecord[]): Promise<void> {
  if (records.length === 0) return;
  const values = records.map(({ checksum, configurationName, isComposite, version, content }) => [
    checksum,
    configurationName,
    Number(isComposite),
    version,
    JSON.stringify(content),
  ]);
  await sql`insert into manifests (checksum, configuration_name, is_composite, version, content)
    select c.value ->> 0, c.value ->> 1, cast(c.value ->> 2 as bigint), c.value ->> 3, c.value ->> 4
    from ${engineOf(trx).rows(values)} c join checksum_uses u on u.checksum = c.value ->> 0
    where true
    on conflict do nothing`.execute(trx);
}

/** Notes in the manifests when a bundle of them was served first, and the digest of the ZIP. */
export async function noteServed(trx: Db, bundles: Iterable<ServedBundle>): Promise<void> {
  for (const { checksum, digest, at } of bundles) {
    await trx
      .updateTable('manifests')
      .set({ bundle_digest: digest, first_served_at: at })
      .where('checksum', '=', checksum)
      .where('first_served_at', 'is', null)
      .execute();
  }
}
