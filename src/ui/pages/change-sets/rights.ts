/** What the user may do with a change set, and why not. The server decides; this is what its answers tell before. */

import { HIDDEN, mySets, PAUSE, reasonAgainstProposing } from '../../basket.ts';
import { apiOf } from '../../links.ts';
import { type Resource, useResource, useResources } from '../../resource.ts';
import { can, me } from '../../session.ts';
import type { ChangeSet, Configuration } from '../../types.ts';
import { isOpen, reasonAgainstApplying } from './rules.ts';
import type { ShownDeed } from './words.tsx';

/** What deeds need that name no configuration and no composite, or beside them. */
const PERMISSIONS: Readonly<Record<string, string>> = {
  Assign: 'nodes.assign-configuration',
  Unassign: 'nodes.assign-configuration',
  Tag: 'nodes.write',
  Untag: 'nodes.write',
  SetTags: 'nodes.write',
  SetLcmConfig: 'nodes.write',
  ReorderScopeTypes: 'scopes.admin-override',
  EnableScopeType: 'scopes.admin-override',
  DisableScopeType: 'scopes.admin-override',
  StartRollout: 'rollouts.manage',
};

const permissionOf = ({ kind, on }: ShownDeed): string | undefined =>
  on?.scopeValueId ? 'scopes.admin-override' : PERMISSIONS[kind];

const isPermitted = (deed: ShownDeed) => can(permissionOf(deed) ?? '') || permissionOf(deed) === undefined;

/** What a deed needs a level on, with its address in the API. */
interface Thing {
  path: string;
  name: string;
  part: 'access' | 'parametersAccess';
}

function thingOf({ kind, isComposite, on, ...deed }: ShownDeed): Thing | null {
  const composite = deed.compositeName ?? on?.compositeName ?? (isComposite ? deed.configurationName : null);
  const name = composite ?? deed.configurationName ?? on?.configurationName;
  if (!name) return null;
  const path = apiOf(composite ? 'composites' : 'configurations', name);
  return { path, name, part: kind.endsWith('Parameters') ? 'parametersAccess' : 'access' };
}

type Level = NonNullable<Configuration['access']>;
const LEVELS: readonly Level[] = ['Read', 'Modify', 'Manage'];

/** Whoever may publish may take back what a set has published. */
function levelOf({ kind, version }: ShownDeed, { revertOf }: ChangeSet): Level {
  if (kind === 'Assign' || (kind === 'StartRollout' && !version)) return 'Read';
  if (kind.startsWith('Withdraw')) return revertOf === null ? 'Manage' : 'Modify';
  const isManaging = kind.startsWith('Restore') || kind === 'SetProtection' || kind === 'SetSettings';
  return isManaging ? 'Manage' : 'Modify';
}

/** Whether the user holds the level on what the deed names. What is not known is taken for held. */
type Holds = (deed: ShownDeed, level: Level) => boolean;

/** So many things are asked for the level of the user. */
const MOST_THINGS = 20;

function useHolds(deeds: readonly ShownDeed[]): { holds: Holds; isBusy: boolean } {
  const paths = [...new Set(deeds.flatMap((deed) => thingOf(deed)?.path ?? []))].slice(0, MOST_THINGS);
  const things = useResources<
    Pick<Configuration, 'access'> & Partial<Pick<Configuration, 'parametersAccess'>>
  >(paths);
  return {
    isBusy: things.some(({ state }) => state === 'loading'),
    holds(deed, level) {
      const thing = thingOf(deed);
      const access = thing === null ? undefined : things[paths.indexOf(thing.path)]?.data?.[thing.part];
      if (access === undefined) return true;
      return access !== null && LEVELS.indexOf(access) >= LEVELS.indexOf(level);
    },
  };
}

/** Null where nothing is known against it. */
export interface Reasons {
  apply: string | null;
  approve: string | null;
  edit: string | null;
  discard: string | null;
  revert: string | null;
  /** What the user adds to a change may go into this one. */
  isCollectable: boolean;
  /** They are not all known yet. */
  isBusy: boolean;
}

export function useReasons(set: ChangeSet): Reasons {
  const { createdBy, deeds, hiddenDeeds, protection, state } = set;
  const isMaker = createdBy === me.value?.username;
  const asks = isOpen(set) && !isMaker;
  const mine = useSets(asks ? mySets(state) : null);
  const isAsked = asks && protection.length > 0;
  const approvable = useSets(isAsked ? '/change-sets?approvable=true&take=1000' : null);
  const { holds, isBusy } = useHolds(isOpen(set) ? deeds : []);
  const isAuthor = isMaker || has(mine, set);
  const mayManage = hiddenDeeds === 0 && deeds.every((deed) => isPermitted(deed) && holds(deed, 'Manage'));
  const discard = isAuthor || mayManage ? null : NOT_YOURS;
  const wouldCount = isAsked ? has(approvable, set) : mayChangeAny(deeds, holds);
  return {
    apply: lackFor(set, holds) ?? reasonAgainstApplying(set),
    approve: isAuthor
      ? `You have ${isMaker ? 'made' : 'edited'} it, so somebody else must approve.`
      : wouldCount
        ? null
        : `Your approval would not count. It needs ${isAsked ? COUNTING : 'Modify on something that it names'}.`,
    edit: hiddenDeeds > 0 ? HIDDEN : discard,
    discard,
    revert: reasonAgainstProposing() ?? (hiddenDeeds > 0 ? UNSEEN : null),
    isCollectable: isAuthor && state === 'Open' && hiddenDeeds === 0,
    isBusy: isBusy || (asks && isOnItsWay(mine)) || (isAsked && isOnItsWay(approvable)),
  };
}

const UNSEEN = 'It has deeds that you may not see.';
const NOT_YOURS = 'Only its authors may do this, and who holds Manage on all that it names.';
const COUNTING =
  'Modify on what is protected, and membership in the group that is named; and you may not have edited a draft in it';

const useSets = (path: string | null) => useResource<ChangeSet[]>(path, { pause: () => PAUSE });
const has = ({ data }: Resource<ChangeSet[]>, { id }: ChangeSet) =>
  data?.some((set) => set.id === id) ?? false;
const isOnItsWay = ({ state }: Resource<unknown>) => state === 'loading';

/** Where nothing is protected, that is enough for an approval. */
const mayChangeAny = (deeds: readonly ShownDeed[], holds: Holds) =>
  can('nodes.read') &&
  deeds.some((deed) => (thingOf(deed) === null ? isPermitted(deed) : holds(deed, 'Modify')));

/** The first right for applying it that the user lacks. */
function lackFor(set: ChangeSet, holds: Holds): string | null {
  const { deeds, hiddenDeeds } = set;
  if (hiddenDeeds > 0) return UNSEEN;
  const all: readonly ShownDeed[] = deeds;
  const at = all.findIndex((deed) => !isPermitted(deed) || !holds(deed, levelOf(deed, set)));
  const deed = all[at];
  if (deed === undefined) return null;
  const needed = isPermitted(deed)
    ? `${levelOf(deed, set)} on ${thingOf(deed)?.name}`
    : `the permission ${permissionOf(deed)}`;
  return `Deed ${at + 1} needs ${needed}.`;
}
