/**
 * What protects configurations, composites and scope values, asked by what a deed names. Every deed that changes what is
 * protected asks `requireDoneAlone`, and change sets are judged by the same answer (docs/decisions/0087).
 */

import type { Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { listProtected, type ProtectedKind, type ProtectedThing } from '../db/protections.ts';
import { listScopeTypes, SCOPE_TYPES } from '../db/scope-types.ts';
import type { Permission } from '../domain/permissions.ts';
import { scopeKey } from '../domain/scopes.ts';
import { conflict, HawserError } from '../lib/errors.ts';
import { CompositeReader } from '../resolve/composites.ts';
import { byVersions } from '../resolve/wanted-version.ts';
import type { Actor } from '../security/audit.ts';
import { scopeOf } from '../versions/parameter-files.ts';
import type { VersionSource } from '../versions/version-source.ts';
import { type Change, type ChangeOf, type NamedFile, partsOf } from './changes.ts';
import { assignmentOf, configurationsGiven } from './handing-out.ts';

export interface ProtectionTools {
  database: { read: Db };
  store: VersionSource;
}

/** A deed of which is asked: one that may be in a set, or a PUT of all tags of a node. */
export type AskedDeed = Change | ({ kind: 'ReplaceTags' } & Omit<ChangeOf<'SetTags'>, 'kind'>);

/** What a person who approves must hold: Modify on the thing or on the file, or the permission. */
export type Needed = { file: NamedFile } | { permission: Permission } | 'thing';

/** A protected thing that a deed changes. */
export interface Cover {
  thing: ProtectedThing;
  needed: Needed;
}

type SwitchOfType = ChangeOf<'EnableScopeType' | 'DisableScopeType'>;

const TAGGING: Needed = { permission: 'nodes.write' };
const ORDERING: Needed = { permission: 'scopes.admin-override' };

/** All protections of the moment. Where there is none, nothing else is read. */
export class Protections {
  readonly things: readonly ProtectedThing[];
  private readonly tools: ProtectionTools;

  private constructor(tools: ProtectionTools, things: readonly ProtectedThing[]) {
    this.tools = tools;
    this.things = things;
  }

  static async of(tools: ProtectionTools): Promise<Protections> {
    return new Protections(tools, await listProtected(tools.database.read));
  }

  /** The protected things that a deed changes. It may read repositories. */
  async coverOf(deed: AskedDeed): Promise<Cover[]> {
    if (this.things.length === 0) return [];
    switch (deed.kind) {
      case 'PublishConfiguration':
      case 'SetServerManaged':
      case 'SetSettings':
        return this.named('configuration', deed.configurationName);
      case 'PublishParameters':
      case 'SetParameters':
      case 'RestoreParameters':
        return this.ofFile(deed);
      case 'PublishComposite':
        return this.ofComposite(deed.compositeName, deed.version);
      case 'Restore':
        return typeof deed.compositeName === 'string'
          ? this.ofComposite(deed.compositeName, deed.version)
          : this.named('configuration', deed.configurationName ?? '');
      case 'Assign':
        return this.ofAssignment(deed);
      case 'Tag':
      case 'Untag':
        return this.values(({ id }) => id === deed.scopeValueId, TAGGING);
      case 'SetTags':
      case 'ReplaceTags':
        return this.ofTags(deed);
      case 'ReorderScopeTypes':
        return this.ofOrder(deed.scopeTypeIds);
      case 'EnableScopeType':
      case 'DisableScopeType':
        return this.ofSwitch(deed);
      case 'SetProtection':
        return this.ofProtection(deed);
      case 'StartRollout':
        return (await Promise.all(partsOf(deed).map((part) => this.coverOf(part)))).flat();
      // What takes something away from nodes is free, so that nobody waits with it in an emergency.
      case 'Unassign':
      case 'Withdraw':
      case 'WithdrawParameters':
      case 'SetLcmConfig':
        return [];
    }
  }

  private named(on: ProtectedKind, ...names: readonly string[]): Cover[] {
    const isMeant = (thing: ProtectedThing) => thing.on === on && names.includes(thing.name);
    return this.things.filter(isMeant).map((thing) => ({ thing, needed: 'thing' }));
  }

  private values(isMeant: (thing: ProtectedThing) => boolean, needed: Needed): Cover[] {
    const values = this.things.filter((thing) => thing.on === 'scopeValue' && isMeant(thing));
    return values.map((thing) => ({ thing, needed }));
  }

  private ofFile({ configurationName, scopeTypeName, scopeValue }: NamedFile): Cover[] {
    const isMeant = ({ scopeType, name }: ProtectedThing) =>
      scopeKey(scopeType?.name ?? '') === scopeKey(scopeTypeName) &&
      scopeKey(name) === scopeKey(scopeValue ?? '');
    const file = { configurationName, scopeTypeName, scopeValue };
    return [...this.named('configuration', configurationName), ...this.values(isMeant, { file })];
  }

  private async ofComposite(name: string, version: string): Promise<Cover[]> {
    const own = this.named('composite', name);
    if (!this.has('configuration')) return own;
    const { store } = this.tools;
    const repository = { kind: 'composites', name } as const;
    const children = await noneIfGone(async () => {
      const ref = (await store.versions(repository)).get(version);
      if (ref === undefined) return [];
      return (await new CompositeReader(store).document(repository, ref)).children;
    });
    return [...own, ...this.named('configuration', ...children.map(({ configuration }) => configuration))];
  }

  private async ofAssignment(deed: ChangeOf<'Assign'>): Promise<Cover[]> {
    const { configurationName: name } = deed;
    if (!deed.isComposite) return this.named('configuration', name);
    const own = this.named('composite', name);
    if (!this.has('configuration')) return own;
    const { store } = this.tools;
    const readers = {
      versions: (repository: Parameters<VersionSource['versions']>[0]) => store.versions(repository),
      // Which files come with a version is no matter here.
      parameters: async () => () => null,
      composites: new CompositeReader(store),
    };
    const planner: Parameters<typeof configurationsGiven>[0] = {
      byVersions: (wanted, lead) => byVersions(readers, { kind: 'composites', name }, wanted, lead),
    };
    const given = await noneIfGone(() => configurationsGiven(planner, assignmentOf(deed, '')));
    return [...own, ...this.named('configuration', ...given)];
  }

  /** Values that nodes get and have not, and those that are taken from nodes. */
  private async ofTags({ kind, nodeIds, scopeValueIds }: Exclude<AskedDeed, Change> | ChangeOf<'SetTags'>) {
    const values = this.things.filter(({ on }) => on === 'scopeValue');
    if (values.length === 0) return [];
    const { read } = this.tools.database;
    const engine = engineOf(read);
    const types = await read
      .selectFrom('scope_values')
      .select('scope_type_id as id')
      .where(engine.isOneOf('id', scopeValueIds))
      .execute();
    const ids = values.map(({ id }) => id);
    const tags = await read
      .selectFrom('node_tags')
      .select(['node_id', 'scope_value_id'])
      .where('scope_value_id', 'in', ids)
      .where(engine.isOneOf('node_id', nodeIds))
      .execute();
    return this.values(({ id, scopeType }) => {
      const holders = tags.filter((tag) => tag.scope_value_id === id).length;
      if (scopeValueIds.includes(id)) return holders < new Set(nodeIds).size;
      const isReplaced = kind === 'ReplaceTags' || types.some((type) => type.id === scopeType?.id);
      return holders > 0 && isReplaced;
    }, TAGGING);
  }

  /** What then stands before or behind another scope type than now. */
  private async ofOrder(ids: readonly string[]): Promise<Cover[]> {
    const types = await listScopeTypes(this.tools.database.read);
    const now = types.map(({ id }) => id);
    const isMoved = (id: string | undefined) => {
      const before = new Set(now.slice(0, now.indexOf(id ?? '')));
      const then = ids.slice(0, ids.indexOf(id ?? ''));
      return then.length !== before.size || !then.every((other) => before.has(other));
    };
    const values = this.values(({ scopeType }) => isMoved(scopeType?.id), ORDERING);
    return [
      ...values,
      ...(await this.withFiles((names) => {
        const own = types.filter(({ name }) => names.has(scopeKey(name))).map(({ id }) => id);
        const then = ids.filter((id) => own.includes(id));
        return own.some((id, at) => then[at] !== id);
      })),
    ];
  }

  private async ofSwitch({ kind, scopeTypeId: typeId }: SwitchOfType): Promise<Cover[]> {
    const type = await SCOPE_TYPES.find(this.tools.database.read, typeId);
    // What is so already is not switched.
    if (type === undefined || (type.is_enabled === 1) === (kind === 'EnableScopeType')) return [];
    const values = this.values(({ scopeType }) => scopeType?.id === typeId, ORDERING);
    return [...values, ...(await this.withFiles((names) => names.has(scopeKey(type.name))))];
  }

  private ofProtection({ on }: ChangeOf<'SetProtection'>): Cover[] {
    if (typeof on.configurationName === 'string') return this.named('configuration', on.configurationName);
    if (typeof on.compositeName === 'string') return this.named('composite', on.compositeName);
    return this.values(({ id }) => id === on.scopeValueId, ORDERING);
  }

  /** The configurations of which this holds. @param isMeant gets the keys of the scope types in which it has published files */
  private async withFiles(isMeant: (names: ReadonlySet<string>) => boolean): Promise<Cover[]> {
    const covers: Cover[] = [];
    for (const thing of this.things.filter(({ on }) => on === 'configuration')) {
      const index = await this.tools.store.parameters.index(thing.name);
      const offered = index.series.filter((series) => index.of(series).published.length > 0);
      const names = new Set(offered.map((series) => scopeKey(scopeOf(series).scopeType)));
      if (isMeant(names)) covers.push({ thing, needed: 'thing' });
    }
    return covers;
  }

  private has(kind: ProtectedKind): boolean {
    return this.things.some(({ on }) => on === kind);
  }
}

/** What is gone hands out nothing. What cannot be read is told. */
async function noneIfGone<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HawserError && (error.kind === 'not_found' || error.code === 'repository_missing'))
      return [];
    throw error;
  }
}

/**
 * Why deeds cannot be done but by a change set.
 * @returns conflict `change_set_required`; null where they can
 */
export async function aloneBlocker(
  tools: ProtectionTools,
  ...deeds: readonly AskedDeed[]
): Promise<HawserError | null> {
  const protections = await Protections.of(tools);
  for (const deed of deeds) {
    const [cover] = await protections.coverOf(deed);
    if (cover) return changeSetRequired(protectedBy(deed, cover.thing), deed.kind);
  }
  return null;
}

/**
 * Refuses deeds on what is protected, unless they are part of a change set.
 * @throws HawserError conflict `change_set_required`
 */
export async function requireDoneAlone(
  tools: ProtectionTools,
  { changeSetId }: Pick<Actor, 'changeSetId'>,
  ...deeds: readonly AskedDeed[]
): Promise<void> {
  if (changeSetId !== undefined) return;
  const blocker = await aloneBlocker(tools, ...deeds);
  if (blocker) throw blocker;
}

/** What is protected, in words. A child of a composite is not named, as the caller may not know of it. */
function protectedBy(deed: AskedDeed, { on, name, scopeType }: ProtectedThing): string {
  if (on === 'scopeValue') return `The scope value ${scopeType?.name}/${name} is protected`;
  if (on === 'composite') return `The composite ${name} is protected`;
  const isNamed = 'configurationName' in deed && deed.configurationName === name;
  return isNamed
    ? `The configuration ${name} is protected`
    : 'A configuration that this concerns is protected';
}

/** @param kind the deed that a set would have */
export function changeSetRequired(why: string, kind: AskedDeed['kind']): HawserError {
  const deed = kind === 'ReplaceTags' ? 'SetTags' : kind === 'SetParameters' ? 'PublishParameters' : kind;
  const byPush = deed.startsWith('Publish') ? ', or push it with -o propose="title"' : '';
  const message = `${why}: propose it as a change set, by POST /api/v1/change-sets with the deed ${deed}${byPush}`;
  return conflict('change_set_required', message);
}
