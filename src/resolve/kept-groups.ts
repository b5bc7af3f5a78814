/**
 * What a preview keeps of a group, so that its details can be told an hour later: object ids, which never change what they
 * stand for, and no value of any parameter (docs/decisions/0048).
 */

import { PARAMETERS_FILE } from '../domain/bundle-paths.ts';
import type { SecretNames } from '../domain/secrets.ts';
import type { VersionRef } from '../versions/types.ts';

/** A version by the object that is read for it. */
export type KeptRef = Pick<VersionRef, 'series' | 'version' | 'status' | 'oid'>;

/** The merged parameters of a part. */
export interface KeptMerged {
  /** The SHA-256 and the size of the real file, in hexadecimal and bytes. */
  sha256: string;
  size: number;
  /** The Git object id of the real file. Null if the other side has merged parameters at the same path. */
  oid: string | null;
}

/** A parameter file that is merged, which has content. */
export interface KeptFile {
  ref: KeptRef;
  /** Which of the proposed files of the preview it is; null for a file that is stored. */
  proposed: number | null;
}

/** A configuration of what a node gets. */
export interface KeptPart {
  name: string;
  tag: KeptRef;
  secrets: SecretNames;
  merged: KeptMerged | null;
  /** The files stand in the order of merging. */
  files: readonly KeptFile[];
}

/** What a node gets on one side of a preview. */
export interface KeptSide {
  /** The generated document of a composite. Null for a configuration, which is a single part. */
  document: { path: string; text: string } | null;
  parts: readonly KeptPart[];
}

/** Null where the nodes get nothing, or an error. */
export interface KeptGroup {
  before: KeptSide | null;
  after: KeptSide | null;
}

/** The folder of a part in the bundle: empty, or the child's name and a slash. */
export function folderOf({ document }: Pick<KeptSide, 'document'>, { name }: { name: string }): string {
  return document === null ? '' : `${name}/`;
}

/** The path of a part's merged parameters in the bundle; null if there are none. */
export function mergedPath(
  side: Pick<KeptSide, 'document'>,
  part: Pick<KeptPart, 'name' | 'merged'>,
): string | null {
  return part.merged && folderOf(side, part) + PARAMETERS_FILE;
}

type PackedFile = [
  configuration: number,
  series: string,
  version: string,
  oid: string,
  draft: 0 | 1,
  proposed: number | null,
];
type PackedPart = [
  plan: number,
  secrets: number,
  merged: [string, number, string | null] | null,
  files: number[],
];
type PackedSide = [document: number | null, parts: PackedPart[]];

interface Packed {
  names: string[];
  plans: [name: number, version: string, oid: string, draft: 0 | 1][];
  secrets: ('all' | string[])[];
  documents: [path: string, text: string][];
  files: PackedFile[];
  groups: [before: PackedSide | null, after: PackedSide | null][];
}

/**
 * Packs groups into one JSON text, which is read without anything else. What several groups share stands in it once, so a
 * group of a node with a file of its own takes some 300 bytes.
 */
export function packGroups(groups: readonly KeptGroup[]): string {
  const names = new Table<string, string>((name) => name);
  const plans = new Table<KeptPart, Packed['plans'][number]>(({ name, tag }) => [
    ...([names.at(name, name), tag.version] as const),
    ...([tag.oid, bitOf(tag)] as const),
  ]);
  const secrets = new Table<SecretNames, 'all' | string[]>((all) => (all === 'all' ? all : [...all].sort()));
  const documents = new Table<{ path: string; text: string }, [string, string]>(({ path, text }) => [
    path,
    text,
  ]);
  const files = new Table<KeptFile & { name: string }, PackedFile>(({ name, ref, proposed }) => [
    ...([names.at(name, name), ref.series, ref.version] as const),
    ...([ref.oid, bitOf(ref), proposed] as const),
  ]);
  const packPart = (part: KeptPart): PackedPart => {
    const { name, tag, merged } = part;
    return [
      plans.at(`${name} ${tag.oid}`, part),
      secrets.at(keyOfSecrets(part.secrets), part.secrets),
      merged && [merged.sha256, merged.size, merged.oid],
      part.files.map((file) => files.at(`${name} ${file.ref.oid} ${file.proposed ?? ''}`, { ...file, name })),
    ];
  };
  const packSide = (side: KeptSide | null): PackedSide | null =>
    side && [
      side.document && documents.at(`${side.document.path}\n${side.document.text}`, side.document),
      side.parts.map(packPart),
    ];
  const packed = groups.map(({ before, after }): Packed['groups'][number] => [
    packSide(before),
    packSide(after),
  ]);
  return JSON.stringify({
    ...{ names: names.rows, plans: plans.rows, secrets: secrets.rows },
    ...{ documents: documents.rows, files: files.rows, groups: packed },
  } satisfies Packed);
}

/** A group of a text that `packGroups` made, by its place in the list. Undefined if the list is shorter. */
export function unpackGroup(text: string, at: number): KeptGroup | undefined {
  const { names, plans, secrets, documents, files, groups }: Packed = JSON.parse(text);
  const unpackFile = (index: number): KeptFile => {
    const [, series, version, oid, draft, proposed] = files[index] as PackedFile;
    return { ref: { series, version, oid, status: statusOf(draft) }, proposed };
  };
  const unpackPart = ([plan, secret, merged, own]: PackedPart): KeptPart => {
    const [name, version, oid, draft] = plans[plan] as Packed['plans'][number];
    const known = secrets[secret] as 'all' | string[];
    return {
      name: names[name] as string,
      tag: { series: '', version, oid, status: statusOf(draft) },
      secrets: known === 'all' ? known : new Set(known),
      merged: merged && { sha256: merged[0], size: merged[1], oid: merged[2] },
      files: own.map(unpackFile),
    };
  };
  const unpackSide = (side: PackedSide | null): KeptSide | null => {
    if (side === null) return null;
    const [path, text] = side[0] === null ? [null, ''] : (documents[side[0]] as [string, string]);
    return { document: path === null ? null : { path, text }, parts: side[1].map(unpackPart) };
  };
  const group = groups[at];
  return group && { before: unpackSide(group[0]), after: unpackSide(group[1]) };
}

/** Thousands of groups share one set, and it never changes. */
const secretKeys = new WeakMap<ReadonlySet<string>, string>();

function keyOfSecrets(secrets: SecretNames): string {
  if (secrets === 'all') return secrets;
  const known = secretKeys.get(secrets) ?? JSON.stringify([...secrets].sort());
  secretKeys.set(secrets, known);
  return known;
}

/** Rows that are written once for each key. */
class Table<T, R> {
  readonly rows: R[] = [];
  private readonly toRow: (item: T) => R;
  private readonly known = new Map<string, number>();

  constructor(toRow: (item: T) => R) {
    this.toRow = toRow;
  }

  at(key: string, item: T): number {
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const row = this.toRow(item);
    const index = this.rows.push(row) - 1;
    this.known.set(key, index);
    return index;
  }
}

const bitOf = ({ status }: KeptRef) => (status === 'Draft' ? 1 : 0);
const statusOf = (draft: 0 | 1) => (draft === 1 ? 'Draft' : 'Published');
