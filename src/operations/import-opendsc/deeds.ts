/** What an import does, as data, and how it is done: by the functions by which requests write too. */

import type { Insertable } from 'kysely';
import { setAttemptState, setPassword } from '../../db/accounts.ts';
import type { Db } from '../../db/database.ts';
import { insertNode, type KnownNode } from '../../db/nodes.ts';
import type { RegistrationKeysTable } from '../../db/schema.ts';
import { SCOPE_TYPES } from '../../db/scope-types.ts';
import { assignChecked, type CheckedAssignment } from '../../deeds/assign.ts';
import type { GroupContent, NewExternalMapping } from '../../deeds/change-group.ts';
import { createGroup, insertMapping } from '../../deeds/change-group.ts';
import type { RoleContent } from '../../deeds/change-role.ts';
import { insertRole } from '../../deeds/change-role.ts';
import type { NewScopeType, NewScopeValue } from '../../deeds/change-scope-type.ts';
import { createScopeType } from '../../deeds/change-scope-type.ts';
import { saveSettings } from '../../deeds/change-settings.ts';
import { insertUser } from '../../deeds/change-user.ts';
import { changeOwnSettings, type OwnChange } from '../../deeds/configuration-settings.ts';
import { addScopeValue } from '../../deeds/define-scope-value.ts';
import { grantLevel } from '../../deeds/grant.ts';
import { insertIdentity } from '../../deeds/link-identity.ts';
import { insertKey } from '../../deeds/registration-keys.ts';
import { NO_GATE } from '../../deeds/tag-gate.ts';
import { tagNode } from '../../deeds/tag-node.ts';
import type { DocumentType } from '../../domain/parameter-document.ts';
import type { GrantKind, GrantLevel } from '../../domain/permissions.ts';
import { writeCheckIns } from '../../pull/check-ins.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import {
  type AwaitedCertificate,
  awaitAnother,
  awaitCertificate,
} from '../../security/awaiting-certificates.ts';
import { GROUP_MEMBERS, GROUP_ROLES } from '../../security/groups.ts';
import { USER_ROLES } from '../../security/users.ts';
import type { NewResource } from '../../versions/resources.ts';
import type { ParameterScope } from '../../versions/store.ts';

interface Named {
  id: string;
  name: string;
}

/** A version that is written. `isThere` where its draft is here already, and is only to be published. */
export interface WrittenVersion {
  version: string;
  /** Whom the source names as its author. */
  author: string | null;
  /** Epoch milliseconds. */
  madeAt: number;
  isPublished: boolean;
  isThere: boolean;
}

/** What is done in the database alone. */
export type RowDeed =
  | ({ do: 'createScopeType'; id: string } & NewScopeType)
  | { do: 'switchOffScopeType'; id: string }
  | ({ do: 'addScopeValue'; id: string; scopeType: Named } & NewScopeValue)
  | { do: 'insertUser'; user: Parameters<typeof insertUser>[2] }
  | {
      do: 'takePassword';
      userId: string;
      username: string;
      hash: string;
      mustChange: boolean;
      failures: number;
      lockoutEnd: number | null;
    }
  | {
      do: 'linkIdentity';
      user: { id: string; username: string };
      identity: Parameters<typeof insertIdentity>[3];
    }
  | { do: 'createGroup'; id: string; content: GroupContent }
  | { do: 'insertRole'; id: string; content: RoleContent }
  | { do: 'join'; set: keyof typeof SETS; ownerId: string; id: string }
  | { do: 'insertMapping'; id: string; mapping: NewExternalMapping }
  | { do: 'saveSetting'; group: string; name: string; before: unknown; value: unknown }
  | { do: 'saveOwnSettings'; configuration: Named; change: OwnChange }
  | { do: 'insertKey'; key: Insertable<RegistrationKeysTable> }
  | {
      do: 'insertNode';
      id: string;
      fqdn: string;
      settings: KnownNode;
      certificate: AwaitedCertificate;
      createdAt: number;
      lastCheckIn: number | null;
    }
  | { do: 'awaitAnother'; nodeId: string; fqdn: string; certificate: AwaitedCertificate }
  | { do: 'tagNode'; nodeId: string; scopeValueId: string }
  | ({ do: 'assign'; nodeId: string } & CheckedAssignment)
  | {
      do: 'grantLevel';
      on: GrantKind;
      resource: Named;
      principalType: 'User' | 'Group';
      principalId: string;
      level: GrantLevel;
    };

/** What is done in repositories. */
export type GitDeed =
  | { do: 'createResource'; resource: NewResource & { id: string }; madeAt: number }
  | ({
      do: 'writeVersion';
      versionId: string;
      configuration: Named;
      entryPoint: string;
    } & WrittenVersion)
  | ({ do: 'writeCompositeVersion'; composite: Named; content: string } & WrittenVersion)
  | ({
      do: 'writeParameters';
      fileId: string;
      configuration: Named;
      scope: ParameterScope;
      scopeTypeId: string;
      isDefined: boolean;
      /** Null skips the scope. */
      type: DocumentType | null;
    } & WrittenVersion)
  | { do: 'putSchema'; configuration: Named; version: string; content: string; madeAt: number };

export type Deed = RowDeed | GitDeed;

const SETS = { group_members: GROUP_MEMBERS, user_roles: USER_ROLES, group_roles: GROUP_ROLES };

type RowDeeds = {
  [D in RowDeed as D['do']]: (trx: Db, actor: Actor, deed: D) => Promise<unknown>;
};

/** Each with its entry in the audit trail. */
const ROW_DEEDS: RowDeeds = {
  createScopeType,
  async switchOffScopeType(trx, actor, { id }) {
    const { name } = await SCOPE_TYPES.update(trx, id, { is_enabled: 0, updated_at: actor.at });
    await recordAudit(trx, actor, { action: 'scope_type.disabled', resourceId: id, details: { name } });
  },
  addScopeValue,
  insertUser: (trx, actor, { user }) => insertUser(trx, actor, user),
  async takePassword(trx, actor, { userId, username, hash, mustChange, failures, lockoutEnd }) {
    await setPassword(trx, { userId, hash, mustChange, now: actor.at, keepSession: null });
    await setAttemptState(trx, userId, { failures, lockoutEnd });
    await recordAudit(trx, actor, { action: 'password.reset', resourceId: userId, details: { username } });
  },
  linkIdentity: (trx, actor, { user, identity }) => insertIdentity(trx, actor, user, identity),
  createGroup: (trx, actor, { id, content }) => createGroup(trx, { actor }, content, id),
  insertRole: (trx, actor, { id, content }) => insertRole(trx, actor, content, id),
  join: (trx, actor, { set, ownerId, id }) => SETS[set].join(trx, actor, ownerId, [id]),
  insertMapping: (trx, actor, { id, mapping }) => insertMapping(trx, actor, mapping, id),
  saveSetting: (trx, actor, { group, name, before, value }) =>
    saveSettings(trx, actor, group, { [name]: value }, { [name]: { from: before, to: value } }),
  saveOwnSettings: (trx, actor, { configuration, change }) =>
    changeOwnSettings(trx, actor, configuration, { action: 'configuration.settings_changed', change }),
  insertKey: (trx, actor, { key }) => insertKey(trx, actor, key),
  async insertNode(trx, actor, { id, fqdn, settings, certificate, createdAt, lastCheckIn }) {
    await insertNode(trx, { id, fqdn, now: createdAt, settings });
    await awaitCertificate(trx, id, certificate, actor.at);
    if (lastCheckIn !== null) await writeCheckIns(trx, [[id, lastCheckIn]]);
    const details = { fqdn, awaiting: certificate.sha1Thumbprint };
    await recordAudit(trx, actor, { action: 'node.registered', resourceId: id, details });
  },
  async awaitAnother(trx, actor, { nodeId, fqdn, certificate }) {
    if (!(await awaitAnother(trx, nodeId, certificate, actor.at))) return;
    const details = { fqdn, awaiting: certificate.sha1Thumbprint };
    await recordAudit(trx, actor, { action: 'node.certificate_awaited', resourceId: nodeId, details });
  },
  tagNode: (trx, actor, deed) => tagNode(trx, actor, deed, NO_GATE),
  assign: (trx, actor, { nodeId, ...checked }) => assignChecked(trx, actor, nodeId, checked),
  grantLevel: (trx, actor, { on, resource, principalType, principalId, level }) =>
    grantLevel(
      trx,
      { principal: { userId: null }, actor },
      { on, resource },
      { principalType, principalId, level },
    ),
};

/** The repository to which a deed belongs, as far as the order of its deeds matters. */
export function repositoryOf(deed: GitDeed): string {
  if (deed.do === 'createResource') return deed.resource.id;
  return deed.do === 'writeCompositeVersion' ? deed.composite.id : deed.configuration.id;
}

export function isRowDeed(deed: Deed): deed is RowDeed {
  return deed.do in ROW_DEEDS;
}

/** Does it within a transaction. @throws HawserError where what the plan was made of has changed */
export async function doInDatabase<D extends RowDeed>(trx: Db, actor: Actor, deed: D): Promise<void> {
  await (ROW_DEEDS[deed.do] as (trx: Db, actor: Actor, deed: D) => Promise<unknown>)(trx, actor, deed);
}
