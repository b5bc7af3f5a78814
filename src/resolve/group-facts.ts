/**
 * What a preview tells of each of its groups at once: how many files and parameters change, and which problems are new.
 * There may be 85,000 groups, so what groups share is made once, and contents of files are not looked at.
 */

import type { FieldError } from '../lib/errors.ts';
import { gitBlobId } from '../lib/hash.ts';
import { type Bundle, FileCounter, type FileTotals } from './bundle-files.ts';
import type { Delivery } from './delivery.ts';
import type { DocumentRunner } from './documents.ts';
import {
  behind,
  CALLER,
  Proposals,
  pairParts,
  type Side,
  SideMaker,
  type SidePart,
  type SideReaders,
} from './group-sides.ts';
import { type KeptGroup, type KeptSide, mergedPath } from './kept-groups.ts';

export interface GroupFacts {
  files: FileTotals;
  /** The number of leaves that `GroupDetails` lists. */
  parameterChanges: number;
  /** Their paths begin with the child's name if the node gets a composite. */
  newProblems: FieldError[];
  /** This is what `packGroups` takes. */
  kept: KeptGroup;
}

const NO_CHANGES: FileTotals = { added: 0, removed: 0, modified: 0, renamed: 0 };

/** Makes the facts of all groups of one preview. */
export class GroupFactsMaker {
  private readonly documents: DocumentRunner;
  private readonly counter = new FileCounter();
  private readonly proposals = new Proposals();
  private readonly before: SideMaker;
  private readonly after: SideMaker;

  /** @param documents those of the readers, which share what they have read */
  constructor(before: SideReaders, after: SideReaders, documents: DocumentRunner) {
    this.documents = documents;
    this.before = new SideMaker(before, documents, this.proposals);
    this.after = new SideMaker(after, documents, this.proposals);
  }

  /**
   * The facts of a group. Of a group that gets nothing or an error after the changes, there are none.
   * @param before what the group's first node gets; null where it gets nothing, or an error
   * @throws HawserError what reading versions throws
   */
  async factsOf(before: Delivery | null, after: Delivery | null): Promise<GroupFacts> {
    const old = before && (await this.before.make(before));
    const next = after && (await this.after.make(after));
    noteIds(old, next);
    const kept = { before: old && keep(old), after: next && keep(next) };
    if (next === null) return { files: NO_CHANGES, parameterChanges: 0, newProblems: [], kept };
    const files = this.counter.count(old && toBundle(old), toBundle(next));
    return { files, ...(await this.compare(old, next)), kept };
  }

  /** What is kept of proposed files, as JSON text: all that the groups up to now name. */
  keptFiles(): string {
    return this.proposals.print();
  }

  private async compare(
    old: Side | null,
    next: Side,
  ): Promise<Pick<GroupFacts, 'parameterChanges' | 'newProblems'>> {
    const pairs = pairParts(old, next);
    let parameterChanges = 0;
    const problems: FieldError[] = [];
    for (const { before, after, child } of pairs) {
      if (before && after && isAlike(before, after)) continue;
      const compared = await this.documents.run(CALLER, 'compareSides', {
        beforeDocuments: before?.documents ?? null,
        afterDocuments: after?.documents ?? null,
        beforeSchema: before?.schema ?? null,
        afterSchema: after?.schema ?? null,
        before: before && { files: before.files, secrets: before.kept.secrets },
        after: after && { files: after.files, secrets: after.kept.secrets },
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
  const { files, schema } = before;
  if (schema?.key !== after.schema?.key || files.length !== after.files.length) return false;
  return files.every((file, at) => file === after.files[at]);
}

/** Notes the ids of merged files that are alone at their paths. So they are recognized among files that were renamed. */
function noteIds(before: Side | null, after: Side | null): void {
  const pathsOf = (side: Side | null) => new Set(side?.parts.map(({ kept }) => mergedPath(side, kept)));
  for (const [side, others] of [
    [before, pathsOf(after)],
    [after, pathsOf(before)],
  ] as const) {
    for (const { kept, bytes } of side?.parts ?? []) {
      if (!side || !kept.merged || !bytes || others.has(mergedPath(side, kept))) continue;
      kept.merged.oid = gitBlobId(bytes);
    }
  }
}

function keep({ document, parts }: Side): KeptSide {
  return { document, parts: parts.map(({ kept }) => kept) };
}

function toBundle({ document, parts }: Side): Bundle {
  return {
    document,
    parts: parts.map(({ delivered: { plan }, kept: { name, merged } }) => ({
      ...{ name, merged },
      files: merged ? plan.filesBesideParameters : plan.files,
    })),
  };
}
