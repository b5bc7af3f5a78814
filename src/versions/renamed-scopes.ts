/**
 * A scope under another name, in one repository. Its versions are first there by both names, and then by the new one, so
 * that whoever asks by the name that holds finds all of them at each moment. The tags of the old name stay beside.
 */

import { readCommit, type Signature } from '../git/commits.ts';
import { damagedRepository } from '../git/disk-errors.ts';
import type { ObjectStore } from '../git/objects.ts';
import type { RefBackend } from '../git/ref-backend.ts';
import { allRefs } from '../git/ref-list.ts';
import type { RefValue } from '../git/ref-reader.ts';
import { readTrailers, withoutSignature, writeMessage } from '../git/trailers.ts';
import { moveFolder } from '../git/tree-edit.ts';
import type { FormerTag, FormerTags } from './branch-upkeep.ts';
import {
  labelOf,
  RENAMED_FOLDER,
  type RefName,
  refNameOf,
  SCOPE_TRAILER,
  tagNameOf,
  withdrawalNameOf,
} from './kinds.ts';
import { scopeOf, scopesIn, seriesOf } from './parameter-files.ts';
import { pushRecordName, pushRecordTag } from './push-records.ts';
import type { RepositoryIndex } from './repository-index.ts';
import type { ParameterScope, ScopeNames } from './scope-names.ts';
import { branchOf, FORMER_SCOPE_TRAILER } from './scope-type-branch.ts';
import type { PushRecord, SeriesIndex, VersionRef, Withdrawal } from './types.ts';
import { versionsMoved } from './write-conflicts.ts';

/** Names the tag object of the old name, in the tag of the new one. */
const FORMER_TRAILER = 'Former-Tag';

/** The repository that is written to. */
interface MoverSite {
  gitdir: string;
  refs: RefBackend;
}

export interface MoverTools {
  repository: MoverSite;
  index: RepositoryIndex;
  objects: ObjectStore;
  move(name: string, from: string | null, to: string | null): Promise<boolean>;
}

/** The series of a scope type, or of one value of it. */
export function seriesIn(index: SeriesIndex, { scopeType, value }: ParameterScope): string[] {
  const scopes = scopesIn(index, scopeType).filter((scope) => value === null || scope.value === value);
  return scopes.map(seriesOf);
}

/**
 * Makes each version of a scope that is not there by its new name yet, and the branch of a type.
 * @throws HawserError `repository_damaged` where one cannot be read; conflict `versions_changed`
 */
export async function copyScope(tools: MoverTools, { from, to }: ScopeNames): Promise<void> {
  const { repository, index } = tools;
  const { refs } = repository;
  const move = async (name: string, oid: string) => {
    const before = refs.get(name);
    if (before !== oid && !(await tools.move(name, before, oid))) throw versionsMoved();
  };
  const all = seriesIn(index, from);
  for (const series of all) {
    const target = seriesOf({ scopeType: to.scopeType, value: to.value ?? scopeOf(series).value });
    const writer = new RenamedVersions(tools, series, target);
    for (const ref of index.of(series).versions.toReversed()) {
      const { version, status, withdrawn, pushed } = ref;
      const oid = await writer.write(ref);
      if (index.of(target).get(version) !== undefined) continue;
      const named = (as: RefName['status']) => refNameOf({ series: target, version, status: as });
      // It comes first, so that nobody ever gets the version without its withdrawal.
      if (withdrawn) await move(named('Withdrawn'), await writer.writeWithdrawal(version, oid, withdrawn));
      // So does the record of who pushed it.
      if (pushed) await move(pushRecordName(named(status)), await writer.writeRecord(status, oid, pushed));
      await move(named(status), oid);
    }
  }
  const tip = refs.get(branchOf(from.scopeType));
  if (all.length > 0 && from.scopeType !== to.scopeType && tip !== null)
    await move(branchOf(to.scopeType), tip);
}

/** Writes the versions of a series by the names of another, the lowest first. */
class RenamedVersions {
  private readonly objects: ObjectStore;
  private readonly repository: MoverSite;
  private readonly from: string;
  private readonly to: string;
  /** The commits that were written, by those in whose place they stand. */
  private readonly commits = new Map<string, string>();

  constructor({ objects, repository }: MoverTools, from: string, to: string) {
    this.objects = objects;
    this.repository = repository;
    this.from = from;
    this.to = to;
  }

  /** @returns the id of the draft's commit, or of the tag */
  async write({ version, status, oid, commit: before }: VersionRef): Promise<string> {
    if (before === null) throw damagedRepository();
    const commit = await this.writeCommit(before, version);
    this.commits.set(before, commit);
    if (status === 'Draft') return commit;
    const { gitdir } = this.repository;
    const tag = await this.objects.readParsed(gitdir, oid, 'tag');
    if (tag === null) throw damagedRepository();
    const tagger = tag.tagger ?? (await readCommit(this.objects, gitdir, commit)).committer;
    const message = this.message(tag.message, version, oid);
    const name = tagNameOf(this.to, version);
    return this.objects.writeTag(gitdir, { object: commit, type: 'commit', tag: name, tagger, message });
  }

  /** @param target the tag of the version by its new name. @returns the id of the tag that withdraws it */
  async writeWithdrawal(version: string, target: string, { tag: oid }: Withdrawal): Promise<string> {
    const { gitdir } = this.repository;
    const before = await this.objects.readParsed(gitdir, oid, 'tag');
    if (before === null || before.tagger === null) throw damagedRepository();
    const tag = withdrawalNameOf(this.to, version);
    const message = withoutSignature(before.message);
    return this.objects.writeTag(gitdir, {
      object: target,
      type: 'tag',
      tag,
      tagger: before.tagger,
      message,
    });
  }

  /** @param target the version by its new name. @returns the id of the record of who pushed it */
  writeRecord(status: VersionRef['status'], target: string, pushed: PushRecord): Promise<string> {
    const type = status === 'Draft' ? 'commit' : 'tag';
    return this.objects.writeTag(this.repository.gitdir, pushRecordTag({ oid: target, type }, pushed));
  }

  /** The folder of a value has its name. Where that stays, the commit stays too. */
  private async writeCommit(oid: string, version: string): Promise<string> {
    const { objects, repository } = this;
    const { gitdir, refs } = repository;
    const [before, after] = [scopeOf(this.from).value, scopeOf(this.to).value];
    if (before === after || before === null || after === null) return oid;
    const commit = await readCommit(objects, gitdir, oid);
    const tree = await moveFolder({ objects, gitdir }, commit.tree, before, after);
    const parents = (await refs.shallow()).has(oid) ? [] : commit.parent;
    const parent = parents.map((each) => this.commits.get(each) ?? each);
    const { author, committer } = commit;
    const message = this.message(commit.message, version, null);
    return objects.writeCommit(gitdir, { tree, parent, author, committer, message });
  }

  /** What was signed is another text now, so the signature goes. */
  private message(before: string, version: string, former: string | null): string {
    const text = withoutSignature(before);
    const [subject = '', ...rest] = text.split('\n');
    const [oldLabel, newLabel] = [labelOf(this.from, version), labelOf(this.to, version)];
    const renamed = subject.endsWith(` ${oldLabel}`)
      ? subject.slice(0, -oldLabel.length) + newLabel
      : subject;
    const scope = `${SCOPE_TRAILER}: `;
    const isOurs = readTrailers(text).has(SCOPE_TRAILER.toLowerCase());
    const lines = rest.filter((line) => !line.startsWith(`${FORMER_TRAILER}: `));
    const body = lines.map((line) => (isOurs && line.startsWith(scope) ? scope + this.to : line));
    const added = [
      ...(isOurs ? [] : ['', scope + this.to]),
      ...(former ? [`${FORMER_TRAILER}: ${former}`] : []),
    ];
    return [renamed, ...body, ...added].join('\n');
  }
}

/**
 * Takes away the versions that a scope has by a name that does not hold, and the branch of a type.
 * @param by who has given it another name, and when. The tags stay as `renamed/<name>`, and the branch of a type says when
 *   the folder got its new name. Null where the name never held.
 */
export async function leaveScope(
  tools: MoverTools,
  { from: gone, to }: ScopeNames,
  by: Signature | null,
): Promise<void> {
  const { repository, index } = tools;
  const all = seriesIn(index, gone);
  const move = async (name: string, from: string | null, oid: string | null) => {
    if (!(await tools.move(name, from, oid))) throw versionsMoved();
  };
  if (by !== null && gone.value !== null && all.length > 0) await moveOnBranch(tools, { from: gone, to }, by);
  const kept = new Set(formerRefs(allRefs(await repository.refs.read(undefined))).map(({ oid }) => oid));
  for (const series of all)
    for (const { name, oid, status, version, withdrawn } of index.of(series).versions) {
      if (by !== null && status === 'Published' && !kept.has(oid))
        await move(freeName(tools, tagNameOf(series, version)), null, oid);
      await move(name, oid, null);
      if (withdrawn) await move(refNameOf({ series, version, status: 'Withdrawn' }), withdrawn.tag, null);
    }
  const branch = branchOf(gone.scopeType);
  const tip = repository.refs.get(branch);
  if (all.length > 0 && gone.value === null && tip !== null) await move(branch, tip, null);
}

function freeName({ repository: { refs } }: MoverTools, tag: string): string {
  const name = `${RENAMED_FOLDER}${tag}`;
  if (refs.get(name) === null) return name;
  for (let number = 2; ; number += 1) if (refs.get(`${name}.${number}`) === null) return `${name}.${number}`;
}

/** Adds a commit to the branch of the type, in which the folder of the value has its new name. */
async function moveOnBranch(tools: MoverTools, { from, to }: ScopeNames, by: Signature): Promise<void> {
  const [old, now] = [seriesOf(from), seriesOf(to)];
  const message = writeMessage(`${old} is ${now}`, { [SCOPE_TRAILER]: now, [FORMER_SCOPE_TRAILER]: old });
  await changeBranch(tools, from, { by, message }, (site, tree) =>
    moveFolder(site, tree, from.value ?? '', to.value ?? ''),
  );
}

/**
 * Takes a scope that goes off the branch of its type, or takes away the branch where no other has files. It comes before
 * the removal of the versions, so that their history ends there.
 */
export async function dropFromBranch(tools: MoverTools, scope: ParameterScope, by: Signature): Promise<void> {
  const { repository, index, move } = tools;
  const { scopeType, value } = scope;
  const series = seriesOf(scope);
  const others = seriesIn(index, { scopeType, value: null }).filter((other) => other !== series);
  if (value === null || others.length === 0) {
    const branch = branchOf(scopeType);
    const tip = repository.refs.get(branch);
    if (tip !== null && !(await move(branch, tip, null))) throw versionsMoved();
    return;
  }
  const message = writeMessage(`${series} is gone`, { [SCOPE_TRAILER]: series });
  await changeBranch(tools, scope, { by, message }, (site, tree) => moveFolder(site, tree, value, null));
}

async function changeBranch(
  { repository, objects, move }: MoverTools,
  { scopeType }: ParameterScope,
  { by, message }: { by: Signature; message: string },
  change: (site: { objects: ObjectStore; gitdir: string }, tree: string) => Promise<string>,
): Promise<void> {
  const { gitdir, refs } = repository;
  const branch = branchOf(scopeType);
  const tip = refs.get(branch);
  if (tip === null) return;
  const before = (await readCommit(objects, gitdir, tip)).tree;
  const tree = await change({ objects, gitdir }, before);
  if (tree === before) return;
  const commit = { tree, parent: [tip], author: by, committer: by, message };
  const oid = await objects.writeCommit(gitdir, commit);
  if (!(await move(branch, tip, oid))) throw versionsMoved();
}

/** The tags of names that versions had once. */
export function formerRefs(refs: ReadonlyMap<string, string>): RefValue[] {
  return [...refs].flatMap(([name, oid]) => (name.startsWith(RENAMED_FOLDER) ? [{ name, oid }] : []));
}

/**
 * The former tags of a repository of parameters: those of the versions that are removed, which go too, and the others.
 * @throws HawserError `repository_damaged`
 */
export async function formerTags(
  { objects, gitdir, refs }: { objects: ObjectStore; gitdir: string; refs: ReadonlyMap<string, string> },
  removed: readonly RefValue[],
): Promise<FormerTags> {
  const former = formerRefs(refs);
  if (former.length === 0) return { gone: [], kept: [] };
  const tagOf = async (oid: string) => {
    const tag = await objects.readParsed(gitdir, oid, 'tag');
    const trailer = tag && readTrailers(tag.message).get(FORMER_TRAILER.toLowerCase());
    return tag && { commit: tag.object, former: trailer ?? null };
  };
  const goes = new Set<string>();
  for (const { oid } of removed)
    for (let next = (await tagOf(oid))?.former; next && !goes.has(next); next = (await tagOf(next))?.former)
      goes.add(next);
  const [gone, kept]: [FormerTag[], FormerTag[]] = [[], []];
  for (const ref of former) {
    const tag = await tagOf(ref.oid);
    if (tag !== null) (goes.has(ref.oid) ? gone : kept).push({ ...ref, commit: tag.commit });
  }
  return { gone, kept };
}
