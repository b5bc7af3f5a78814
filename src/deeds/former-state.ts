/**
 * What a set that takes another one back may do beyond other sets: it may withdraw what the other one published with the right by
 * which that was published, and may assign what was assigned before, even where no version of it fits now.
 */

import { type ChangeState, keyOfVersion, versionOf } from './change-state.ts';
import { type Change, type ChangeOf, partsOf } from './changes.ts';

const PUBLISHING: readonly Change['kind'][] = [
  'PublishConfiguration',
  'PublishComposite',
  'PublishParameters',
];

export class FormerState {
  private readonly published: ReadonlySet<string>;
  private readonly before: ChangeState | null;

  /** For a set that takes none back. */
  static readonly NONE = new FormerState([], null);

  /** @param changes those of the set that is taken back, with what was there before it */
  constructor(changes: readonly Change[], before: ChangeState | null) {
    const named = changes
      .flatMap(partsOf)
      .filter(({ kind }) => PUBLISHING.includes(kind))
      .map(versionOf);
    this.published = new Set(named.flatMap((version) => (version === null ? [] : [keyOfVersion(version)])));
    this.before = before;
  }

  /** Whether the deed withdraws what the set that is taken back has published. */
  isPublished(change: Change): boolean {
    const version = versionOf(change);
    return version !== null && this.published.has(keyOfVersion(version));
  }

  /** Whether all nodes of the deed had just this assigned. */
  wasAssigned(change: ChangeOf<'Assign'>): boolean {
    const { nodeIds, configurationName, isComposite, majorVersion, prereleaseChannel, version } = change;
    const wanted = [configurationName, isComposite === true, majorVersion, prereleaseChannel, version];
    return nodeIds.every((nodeId) => {
      const was = this.before?.rows.assignments[nodeId] ?? null;
      if (was === null) return false;
      const had = [was.configurationName, was.compositeId !== null, was.majorVersion, was.prereleaseChannel];
      return [...had, was.version].every((member, at) => (wanted[at] ?? null) === member);
    });
  }
}
