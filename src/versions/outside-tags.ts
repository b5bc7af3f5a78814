/**
 * Tags that did not come by this server: by stock git in its folder, or by `hawser adopt`. Where versions must be signed, one that is not
 * Valid is passed over. A tag that a push brought has the record of it, and was looked at then. The others that count are noted
 * with who may sign: those that were there when it was switched on, and those that were Valid when they were first seen, whoever may
 * sign since.
 */

import type { Db } from '../db/database.ts';
import type { Reading, ReadingDatabase } from '../db/reading.ts';
import type { Signing } from '../domain/signing.ts';
import type { StoredFile } from '../git/types.ts';
import { sha256Hex } from '../lib/hash.ts';
import type { Admit } from './admit.ts';
import { checkTag, digestOf } from './signature-checks.ts';
import type { VersionIndex } from './types.ts';

/** The ids of the tags that count when versions must be signed from now on. */
export function tagsOf({ versions }: Pick<VersionIndex, 'versions'>): string[] {
  return versions.flatMap(({ status, oid }) => (status === 'Published' ? [oid] : []));
}

/** Who may sign the versions of a configuration, with the ids of the tags that count whatever is said there. */
export interface SigningRow extends Signing {
  id: string;
  /** JSON: a list. */
  admitted: string;
}

interface AdmissionTools {
  /** Undefined for a configuration that requires nothing. */
  find(configurationName: string): Promise<SigningRow | undefined>;
  /** Notes a tag that counts from now on. Null where nothing is written. */
  note: ((row: SigningRow, admitted: string) => Promise<unknown>) | null;
  now(): number;
}

export function admission({ find, note, now }: AdmissionTools): Admit {
  return async (configurationName, tag) => {
    const row = await find(configurationName);
    if (row === undefined || row.require === 'Off') return null;
    const admitted: string[] = JSON.parse(row.admitted);
    if (admitted.includes(tag.oid)) return null;
    const { version, oid, commit, entryPoint } = tag;
    const hashes = async (files: readonly StoredFile[]) => {
      const all: string[] = [];
      for (const file of files) all.push(sha256Hex(await tag.read(file.oid, 'blob')));
      return all;
    };
    const { status, reason } = await checkTag(
      {
        oid,
        time: now(),
        read: () => tag.read(oid, 'tag'),
        async expected() {
          const files = await tag.files();
          const digest = await digestOf(commit, files, () => hashes(files));
          return { configurationName, version, entryPoint, filesSha256: digest };
        },
      },
      row,
    );
    if (status !== 'Valid') return `Versions must be signed, and the signature is ${reason ?? 'not there'}`;
    await note?.(row, JSON.stringify([...admitted, oid]));
    return null;
  };
}

/** For the process that writes. */
export function admissionBy({ read, write }: { read: Db; write: Db }, now: () => number): Admit {
  return admission({
    now,
    find: (name) => queryOf(read, name).executeTakeFirst(),
    note: ({ id }, admitted) =>
      write
        .updateTable('configuration_signing')
        .set({ admitted })
        .where('configuration_id', '=', id)
        .execute(),
  });
}

/** For threads, which read alone. */
export function admissionRead(database: ReadingDatabase, now: () => number): Admit {
  function* reading(name: string): Reading<SigningRow | undefined> {
    let found: SigningRow | undefined;
    const { sql, parameters } = queryOf(database.queries, name).compile();
    yield {
      sql,
      values: parameters,
      take([id, require, allowedSigners, admitted]) {
        found = { id, require, allowedSigners, admitted } as SigningRow;
      },
    };
    return found;
  }
  return admission({ now, find: async (name) => database.read(reading(name)), note: null });
}

const queryOf = (db: Db, configurationName: string) =>
  db
    .selectFrom('configuration_signing as s')
    .innerJoin('configurations as c', 'c.id', 's.configuration_id')
    .select(['c.id', 's.require', 's.allowed_signers as allowedSigners', 's.admitted'])
    .where('c.name', '=', configurationName);
