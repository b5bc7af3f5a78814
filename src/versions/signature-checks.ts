/**
 * Whether the tag of a version is signed by who may sign, and says what nodes rely on. What a tag says, and the digest of the files of
 * a commit, never change, so they are remembered by their ids. Who may sign, and the time, are looked at anew for each verdict.
 */

import { LRUCache } from 'lru-cache';
import type { Db } from '../db/database.ts';
import { findSigning } from '../db/signing.ts';
import { type AllowedSigner, readAllowedSigners } from '../domain/allowed-signers.ts';
import {
  claimsFault,
  type ExpectedClaims,
  filesSha256,
  judgeSigning,
  type ReadTag,
  readSignedTag,
  type SignatureCheck,
} from '../domain/signed-tag.ts';
import type { Signing } from '../domain/signing.ts';
import type { StoredFile } from '../git/types.ts';
import type { GitStore } from './store.ts';
import type { VersionDetails, VersionRef } from './types.ts';

export type { SignatureCheck } from '../domain/signed-tag.ts';

/** A tag of which the objects are at hand, in the repository or not yet. */
export interface CheckedTag {
  oid: string;
  /** The bytes of the tag object. */
  read(): Promise<Buffer>;
  /** What it should say. It is asked only where the signature counts. */
  expected(): Promise<ExpectedClaims>;
  /** When the version was published, or the present for one that is not published yet; epoch milliseconds. */
  time: number;
}

/** So many tags are remembered, of a few hundred bytes each, and so many digests. */
const REMEMBERED = 10_000;
const tags = new LRUCache<string, ReadTag>({ max: REMEMBERED });
const digests = new LRUCache<string, string>({ max: REMEMBERED });
const texts = new LRUCache<string, readonly AllowedSigner[]>({ max: 100 });

/** Those that a text names. A text that is stored has no fault. */
export function signersOf({ allowedSigners }: Signing): readonly AllowedSigner[] {
  const known = texts.get(allowedSigners);
  if (known !== undefined) return known;
  const { signers } = readAllowedSigners(allowedSigners);
  texts.set(allowedSigners, signers);
  return signers;
}

/** @throws what reading throws */
export async function checkTag(tag: CheckedTag, signing: Signing): Promise<SignatureCheck> {
  const read = tags.get(tag.oid) ?? readSignedTag(await tag.read());
  tags.set(tag.oid, read);
  const verdict = judgeSigning(read, signersOf(signing), [tag.time]);
  if (verdict.status === 'Unsigned')
    return { status: 'Unsigned', principal: null, fingerprint: null, reason: null };
  const { principal, fingerprint } = verdict;
  const reason =
    verdict.status === 'Invalid' ? verdict.reason : claimsFault(verdict.claims, await tag.expected());
  return { status: reason === null ? 'Valid' : 'Invalid', principal, fingerprint, reason };
}

/**
 * The digest of the files of a commit.
 * @param hashes gives the SHA-256 of each file, in their order
 */
export async function digestOf(
  commit: string,
  files: readonly StoredFile[],
  hashes: () => Promise<readonly string[]>,
): Promise<string> {
  const known = digests.get(commit);
  if (known !== undefined) return known;
  const all = await hashes();
  const digest = filesSha256(
    files.map(({ path, executable }, at) => ({ path, isExecutable: executable, sha256: all[at] ?? '' })),
  );
  digests.set(commit, digest);
  return digest;
}

/** A version with what is known of it. */
type Known = Pick<VersionDetails, 'commit' | 'entryPoint' | 'files' | 'publishedAt'>;

/**
 * The verdict on a version of a configuration that is stored.
 * @param now epoch milliseconds
 * @returns null where nobody may sign, and for a draft without a tag that is kept beside it
 * @throws HawserError `repository_damaged`
 */
export async function checkVersion(
  store: Pick<GitStore, 'tagObject' | 'fileInfos'>,
  { name, ref, details }: { name: string; ref: VersionRef; details: Known },
  signing: Signing,
  now: number,
): Promise<SignatureCheck | null> {
  if (signing.allowedSigners.trim() === '') return null;
  const oid = ref.status === 'Published' ? ref.oid : ref.pushed?.tag;
  if (oid === undefined) return null;
  const repository = { kind: 'configurations', name } as const;
  const { commit, entryPoint, files, publishedAt } = details;
  const hashes = async () => (await store.fileInfos(repository, files)).map(({ sha256 }) => sha256);
  const { version } = ref;
  const tag: CheckedTag = {
    oid,
    time: ref.status === 'Published' ? (publishedAt ?? now) : now,
    read: () => store.tagObject(repository, oid),
    expected: async () => ({
      ...{ configurationName: name, version, entryPoint },
      filesSha256: await digestOf(commit, files, hashes),
    }),
  };
  return checkTag(tag, signing);
}

/** Gives the verdict on each version of a configuration, by who may sign at the moment. */
export async function signatureChecks(
  { read, store, now }: { read: Db; store: GitStore; now: number },
  { id, name }: { id: string; name: string },
): Promise<(details: VersionDetails) => Promise<SignatureCheck | null>> {
  const signing = await findSigning(read, id);
  if (signing.allowedSigners.trim() === '') return async () => null;
  const index = await store.versions({ kind: 'configurations', name });
  return async (details) => {
    const ref = index.get(details.version);
    return ref === undefined ? null : checkVersion(store, { name, ref, details }, signing, now);
  };
}
