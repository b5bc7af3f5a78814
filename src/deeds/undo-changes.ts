/** The deeds that take a change set back: last first, from the state before it. What was changed again since is left alone. */

import { parseDuration } from '../domain/duration.ts';
import { NO_PROTECTION } from '../domain/protection.ts';
import { NO_SIGNING } from '../domain/signing.ts';
import { groupBy } from '../lib/group-by.ts';
import {
  type ChangeState,
  isSameAssignment,
  keyOfProtected,
  keyOfVersion,
  type NamedAssignment,
  type StoredLcm,
  type VersionState,
  versionOf,
} from './change-state.ts';
import { type Change, type ChangeOf, partsOf } from './changes.ts';

export interface Undone {
  deeds: Change[];
  /** What was changed again since, a sentence for each. */
  changedSince: string[];
}

/** A set with what it changed, and what is there now. */
export interface Undoing {
  /** The set, as reasons of withdrawals name it. */
  id: number;
  changes: readonly Change[];
  before: ChangeState;
  after: ChangeState;
  now: ChangeState;
}

type NodeChange = ChangeOf<'Assign' | 'Unassign' | 'Tag' | 'Untag' | 'SetTags' | 'SetLcmConfig'>;
type VersionChange = Exclude<ReturnType<typeof versionOf>, null>;

export function undoChanges(set: Undoing): Undone {
  const undone: Undone = { deeds: [], changedSince: [] };
  /** What several deeds changed is brought back once, to what it was before all of them. */
  const seen = new Set<string>();
  for (const change of set.changes.flatMap(partsOf).toReversed()) {
    const version = versionOf(change);
    if (version !== null) undoVersion(set, version, undone);
    else if ('nodeIds' in change) undoNodes(set, change, seen, undone);
    else undoSetting(set, change, seen, undone);
  }
  return undone;
}

function undoVersion({ id, before, after, now }: Undoing, named: VersionChange, undone: Undone): void {
  const key = keyOfVersion(named);
  const stateIn = ({ versions }: ChangeState): VersionState => versions[key] ?? { is: 'Absent' };
  const [was, made, is] = [stateIn(before), stateIn(after), stateIn(now)];
  if (was.is === made.is) return;
  if (made.is !== is.is) {
    undone.changedSince.push(`Version ${named.version} of ${named.repository.name} was changed since`);
    return;
  }
  const reason = was.is === 'Withdrawn' ? was.reason : `Change ${id} is taken back`;
  const isOffered = made.is === 'Offered';
  if (named.file !== undefined) {
    const { configurationName, scopeTypeName, scopeValue } = named.file;
    const file = { configurationName, scopeTypeName, scopeValue, version: named.version };
    undone.deeds.push(
      isOffered ? { kind: 'WithdrawParameters', ...file, reason } : { kind: 'RestoreParameters', ...file },
    );
    return;
  }
  const { kind, name } = named.repository;
  const owner = kind === 'composites' ? { compositeName: name } : { configurationName: name };
  const version = { ...owner, version: named.version };
  undone.deeds.push(isOffered ? { kind: 'Withdraw', ...version, reason } : { kind: 'Restore', ...version });
}

function undoNodes(set: Undoing, change: NodeChange, seen: Set<string>, undone: Undone): void {
  const what = WHAT[change.kind];
  const nodeIds = change.nodeIds.filter((nodeId) => {
    const isNew = !seen.has(`${what} ${nodeId}`);
    seen.add(`${what} ${nodeId}`);
    return isNew && isThere(set, what, nodeId);
  });
  const isKept = KEPT[what];
  const changed = nodeIds.filter((nodeId) => !isKept(set.after, set.now, nodeId));
  if (changed.length > 0)
    undone.changedSince.push(`${SAYS[what]} of ${countOf(changed.length)} changed since`);
  const left = nodeIds.filter(
    (nodeId) => isKept(set.after, set.now, nodeId) && !isKept(set.before, set.now, nodeId),
  );
  undone.deeds.push(...BACK[what](set, left));
}

type What = 'assignments' | 'tags' | 'lcm';

const WHAT: Record<NodeChange['kind'], What> = {
  ...{ Assign: 'assignments', Unassign: 'assignments', Tag: 'tags', Untag: 'tags', SetTags: 'tags' },
  SetLcmConfig: 'lcm',
};

const SAYS: Record<What, string> = {
  assignments: 'The assignments',
  tags: 'The tags',
  lcm: 'The desired settings',
};

const countOf = (count: number) => (count === 1 ? 'one node were' : `${count} nodes were`);

/** Whether the node was not deleted since. */
const isThere = ({ now, before }: Undoing, what: What, nodeId: string) =>
  now.rows[what][nodeId] !== undefined && before.rows[what][nodeId] !== undefined;

type Comparison = (a: ChangeState, b: ChangeState, nodeId: string) => boolean;

const KEPT: Record<What, Comparison> = {
  assignments: (a, b, nodeId) => isSameAssignment(a.rows.assignments[nodeId], b.rows.assignments[nodeId]),
  tags: (a, b, nodeId) => isSame(sorted(a.rows.tags[nodeId]), sorted(b.rows.tags[nodeId])),
  lcm: (a, b, nodeId) => isSame(a.rows.lcm[nodeId], b.rows.lcm[nodeId]),
};

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const sorted = (tags: Record<string, string> = {}) => Object.entries(tags).sort();

const BACK: Record<What, (set: Undoing, nodeIds: readonly string[]) => Change[]> = {
  assignments: ({ before }, nodeIds) =>
    [...groupBy(nodeIds, (nodeId) => JSON.stringify(before.rows.assignments[nodeId]))].map(([text, ids]) => {
      const assignment: NamedAssignment | null = JSON.parse(text);
      return assignment === null ? { kind: 'Unassign', nodeIds: ids } : assignAgain(assignment, ids);
    }),
  tags: ({ before, now }, nodeIds) => tagsBack(before, now, nodeIds),
  lcm: ({ before }, nodeIds) =>
    [...groupBy(nodeIds, (nodeId) => JSON.stringify(before.rows.lcm[nodeId]))].map(([text, ids]) => {
      const { configurationMode, configurationModeInterval, reportCompliance }: StoredLcm = JSON.parse(text);
      return {
        ...{ kind: 'SetLcmConfig', nodeIds: ids, configurationMode },
        configurationModeInterval:
          configurationModeInterval === null ? null : parseDuration(configurationModeInterval),
        reportCompliance: reportCompliance === null ? null : reportCompliance === 1,
      };
    }),
};

function assignAgain(
  { configurationName, compositeId, majorVersion, prereleaseChannel, version }: NamedAssignment,
  nodeIds: readonly string[],
): Change {
  const isComposite = compositeId !== null;
  return {
    kind: 'Assign',
    ...{ nodeIds, configurationName, isComposite, majorVersion, prereleaseChannel, version },
  };
}

/** First the tags are taken away that were not there, then those are set that were. */
function tagsBack(before: ChangeState, now: ChangeState, nodeIds: readonly string[]): Change[] {
  const gone = nodeIds.flatMap((nodeId) =>
    Object.entries(now.rows.tags[nodeId] ?? {})
      .filter(([type]) => before.rows.tags[nodeId]?.[type] === undefined)
      .map(([, valueId]) => ({ nodeId, valueId })),
  );
  const untagged = [...groupBy(gone, ({ valueId }) => valueId)].map(([scopeValueId, tags]): Change => {
    return { kind: 'Untag', nodeIds: tags.map(({ nodeId }) => nodeId), scopeValueId };
  });
  const former = groupBy(nodeIds, (nodeId) =>
    JSON.stringify(
      sorted(before.rows.tags[nodeId])
        .filter(([type, valueId]) => now.rows.tags[nodeId]?.[type] !== valueId)
        .map(([, valueId]) => valueId),
    ),
  );
  const tagged = [...former].flatMap(([text, ids]): Change[] => {
    const scopeValueIds: string[] = JSON.parse(text);
    return scopeValueIds.length === 0 ? [] : [{ kind: 'SetTags', nodeIds: ids, scopeValueIds }];
  });
  return [...untagged, ...tagged];
}

function undoSetting(
  { before, after, now }: Undoing,
  change: Change,
  seen: Set<string>,
  undone: Undone,
): void {
  const back = (key: string, [was, made, is]: readonly unknown[], what: string, deed: () => Change) => {
    if (seen.has(key) || isSame(was, made)) return;
    seen.add(key);
    if (isSame(made, is)) undone.deeds.push(deed());
    else undone.changedSince.push(`${what} was changed since`);
  };
  const rows = [before.rows, after.rows, now.rows] as const;
  if (change.kind === 'ReorderScopeTypes') {
    const orders = rows.map(({ scopeOrder }) => scopeOrder);
    back('order', orders, 'The order of the scope types', () => {
      return { kind: 'ReorderScopeTypes', scopeTypeIds: before.rows.scopeOrder ?? [] };
    });
  } else if (change.kind === 'EnableScopeType' || change.kind === 'DisableScopeType') {
    const { scopeTypeId } = change;
    const states = rows.map(({ enabled }) => enabled[scopeTypeId]);
    back(`type ${scopeTypeId}`, states, 'A scope type', () => {
      return { kind: before.rows.enabled[scopeTypeId] ? 'EnableScopeType' : 'DisableScopeType', scopeTypeId };
    });
  } else if (change.kind === 'SetServerManaged') {
    const { configurationName } = change;
    const states = rows.map(({ managed }) => managed[configurationName]);
    back(`managed ${configurationName}`, states, `Who manages the parameters of ${configurationName}`, () => {
      const useServerManagedParameters = before.rows.managed[configurationName] === true;
      return { kind: 'SetServerManaged', configurationName, useServerManagedParameters };
    });
  } else if (change.kind === 'SetSettings') {
    const { configurationName } = change;
    const setting = { kind: 'SetSettings', configurationName } as const;
    if (change.signing) {
      const states = rows.map(({ signing }) => signing?.[configurationName]);
      back(`signing ${configurationName}`, states, `Who may sign versions of ${configurationName}`, () => {
        return { ...setting, signing: before.rows.signing?.[configurationName] ?? NO_SIGNING };
      });
    }
    if (change.variables) {
      const states = rows.map(({ variables }) => variables?.[configurationName]);
      back(`variables ${configurationName}`, states, `The variables of ${configurationName}`, () => {
        return { ...setting, variables: before.rows.variables?.[configurationName] ?? 'Off' };
      });
    }
  } else if (change.kind === 'SetProtection') {
    const { on } = change;
    const key = keyOfProtected(on);
    const states = rows.map(({ protections }) => protections?.[key]);
    back(`protection ${key}`, states, 'A protection', () => {
      return { kind: 'SetProtection', on, protection: before.rows.protections?.[key] ?? NO_PROTECTION };
    });
  }
}
