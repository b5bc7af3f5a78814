/**
 * What a preview tells of each of its groups at once: how many files and parameters change, and which problems are new.
 * There may be 85,000 groups, so what groups share is made once, and contents of files are not looked at.
 */

import type { FieldError } from '../lib/errors.ts';
import { gitBlobId } from '../lib/hash.ts';
import type { Delivery } from './delivery.ts';
import type { DocumentRunner } from './documents.ts';
import { FileCounter, type FileTotals, mergedPath } from './preview-files.ts';
import {
  behind,
  CALLER,
  factsOf,
  fileNames,
  type GroupSides,
  pairParts,
  type Side,
  SideMaker,
  type SidePart,
  type SideReaders,
} from './preview-sides.ts';

export interface GroupFacts {
  files: FileTotals;
  /** The number of leaves that the details list. */
  parameterChanges: number;
  /** Their paths begin with the child's name if the node gets a composite. */
  newProblems: FieldError[];
}

const NO_CHANGES: FileTotals = { added: 0, removed: 0, modified: 0, renamed: 0 };

/** Makes the facts of all groups of one preview. */
export class GroupFactsMaker {
  private readonly documents: DocumentRunner;
  private readonly counter = new FileCounter();
  private readonly before: SideMaker;
  private readonly after: SideMaker;

  /** @param documents those of the readers, which share what they have read */
  constructor(before: SideReaders, after: SideReaders, documents: DocumentRunner) {
    this.documents = documents;
    this.before = new SideMaker(before);
    this.after = new SideMaker(after);
  }

  /**
   * What a group gets.
   * @param before what its first node gets; null where it gets nothing, or an error
   * @throws HawserError what reading versions throws
   */
  async sidesOf(before: Delivery | null, after: Delivery | null): Promise<GroupSides> {
    const old = before && (await this.before.make(before));
    const next = after && (await this.after.make(after));
    noteIds(old, next);
    return { before: old, after: next };
  }

  /** The facts of a group. Of one that gets nothing or an error after the changes, there are none. */
  async factsOf(group: GroupSides): Promise<GroupFacts> {
    const { before, after } = group;
    if (after === null) return { files: NO_CHANGES, parameterChanges: 0, newProblems: [] };
    return { files: this.counter.count(before, after), ...(await this.compare(group)) };
  }

  private async compare(group: GroupSides): Promise<Pick<GroupFacts, 'parameterChanges' | 'newProblems'>> {
    let parameterChanges = 0;
    const problems: FieldError[] = [];
    for (const { before, after, child } of pairParts(group)) {
      if (before && after && isAlike(before, after)) continue;
      const compared = await this.documents.run(CALLER, 'compareSides', {
        beforeDocuments: before?.documents ?? null,
        afterDocuments: after?.documents ?? null,
        beforeSchema: before?.schema ?? null,
        afterSchema: after?.schema ?? null,
        ...{ before: factsOf(before), after: factsOf(after) },
      });
      parameterChanges += compared.parameterChanges;
      for (const problem of compared.newProblems)
        problems.push(child === null ? problem : { ...problem, path: behind(child, problem.path) });
    }
    return { parameterChanges, newProblems: problems };
  }
}

/** Whether the same files are merged, and checked with the same schema. Many children of a composite do not change. */
function isAlike(before: SidePart, after: SidePart): boolean {
  if (before.schema?.key !== after.schema?.key || before.refs.length !== after.refs.length) return false;
  if (before.way !== after.way && JSON.stringify(before.way) !== JSON.stringify(after.way)) return false;
  const others = fileNames(after);
  return fileNames(before).every((file, at) => file === others[at]);
}

/** Notes the ids of merged files that are alone at their paths. So they are recognized among files that were renamed. */
function noteIds(before: Side | null, after: Side | null): void {
  const pathsOf = (side: Side | null) => new Set(side?.parts.map((part) => mergedPath(side, part)));
  for (const [side, others] of [
    [before, pathsOf(after)],
    [after, pathsOf(before)],
  ] as const) {
    for (const part of side?.parts ?? []) {
      const { merged, bytes } = part;
      if (side && merged && bytes && !merged.hasSecrets && !others.has(mergedPath(side, part)))
        merged.oid = gitBlobId(bytes);
    }
  }
}
