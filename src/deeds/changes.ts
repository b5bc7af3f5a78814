/** What may be proposed: the deeds that a preview tries and that a change set carries out, as plain values. */

import { parseDuration } from '../domain/duration.ts';
import type { Protection } from '../domain/protection.ts';
import type { OnHalt } from '../domain/rollout.ts';
import type { PlannedStep } from '../domain/rollout-plan.ts';
import type { Signing } from '../domain/signing.ts';
import type { LcmSettings } from './change-lcm-config.ts';
import type { WantedAssignment } from './handing-out.ts';

/** A parameter file that is to be rolled out. */
export interface WantedFile {
  scopeTypeName: string;
  scopeValue?: string | null | undefined;
  version: string;
}

/** The scope whose parameter file is meant. */
export interface NamedFile {
  configurationName: string;
  scopeTypeName: string;
  /** None for Default. */
  scopeValue?: string | null | undefined;
}

/** A configuration or a composite: exactly one of the two is named. */
interface NamedOwner {
  configurationName?: string | null | undefined;
  compositeName?: string | null | undefined;
}

/** A published version of one of them. */
type NamedVersion = NamedOwner & { version: string };

/** A configuration, a composite or a scope value: exactly one of them is named. */
export interface ProtectedName {
  configurationName?: string | null | undefined;
  compositeName?: string | null | undefined;
  scopeValueId?: string | null | undefined;
}

type Reason = { reason?: string | null | undefined };
type OfNodes = { nodeIds: readonly string[] };

/** One change. Those of a list act together, in their order. */
export type Change =
  | { kind: 'PublishConfiguration'; configurationName: string; version: string }
  | { kind: 'PublishComposite'; compositeName: string; version: string }
  | ({ kind: 'PublishParameters'; version: string } & NamedFile)
  | ({
      kind: 'SetParameters';
      version: string;
      /** A document that answers never show. */
      content: string;
      /** The media type; null for YAML. */
      contentType: string | null;
    } & NamedFile)
  | ({ kind: 'Assign' } & OfNodes & WantedAssignment)
  | ({ kind: 'Unassign' } & OfNodes)
  | ({ kind: 'Tag'; scopeValueId: string } & OfNodes)
  | ({ kind: 'Untag'; scopeValueId: string } & OfNodes)
  | ({ kind: 'SetTags'; scopeValueIds: readonly string[] } & OfNodes)
  | ({ kind: 'Withdraw' } & NamedVersion & Reason)
  | ({ kind: 'Restore' } & NamedVersion)
  | ({ kind: 'WithdrawParameters'; version: string } & NamedFile & Reason)
  | ({ kind: 'RestoreParameters'; version: string } & NamedFile)
  | { kind: 'ReorderScopeTypes'; scopeTypeIds: readonly string[] }
  | { kind: 'EnableScopeType'; scopeTypeId: string }
  | { kind: 'DisableScopeType'; scopeTypeId: string }
  | ({ kind: 'SetLcmConfig' } & OfNodes & LcmSettings)
  | { kind: 'SetServerManaged'; configurationName: string; useServerManagedParameters: boolean }
  | { kind: 'SetProtection'; on: ProtectedName; protection: Protection }
  | {
      kind: 'SetSettings';
      configurationName: string;
      signing?: Signing | null | undefined;
      variables?: 'Off' | 'On' | null | undefined;
    }
  | ({
      kind: 'StartRollout';
      /** None where parameter files roll out alone. */
      version?: string | null | undefined;
      parameters?: readonly WantedFile[] | null | undefined;
      steps: readonly PlannedStep[];
      onHalt: OnHalt;
      message?: string | null | undefined;
    } & NamedOwner);

export type ChangeOf<K extends Change['kind']> = Extract<Change, { kind: K }>;

/**
 * What a change publishes one by one, where it publishes several versions: those of a rollout, which is offered to all in the end.
 * Any other change is itself its only part.
 */
export function partsOf(change: Change): Change[] {
  if (change.kind !== 'StartRollout') return [change];
  const { configurationName, compositeName, version, parameters } = change;
  const parts: Change[] = [];
  if (typeof version === 'string')
    parts.push(
      typeof compositeName === 'string'
        ? { kind: 'PublishComposite', compositeName, version }
        : { kind: 'PublishConfiguration', configurationName: configurationName ?? '', version },
    );
  for (const file of parameters ?? [])
    parts.push({ kind: 'PublishParameters', configurationName: configurationName ?? '', ...file });
  return parts;
}

/** The members that each kind has in answers, in this order. */
const MEMBERS: Record<Change['kind'], readonly string[]> = {
  PublishConfiguration: ['configurationName', 'version'],
  PublishComposite: ['compositeName', 'version'],
  PublishParameters: ['configurationName', 'scopeTypeName', 'scopeValue', 'version'],
  SetParameters: ['configurationName', 'scopeTypeName', 'scopeValue', 'version', 'content', 'contentType'],
  Assign: [
    ...['nodeIds', 'configurationName', 'isComposite', 'majorVersion', 'prereleaseChannel', 'version'],
  ],
  Unassign: ['nodeIds'],
  Tag: ['nodeIds', 'scopeValueId'],
  Untag: ['nodeIds', 'scopeValueId'],
  SetTags: ['nodeIds', 'scopeValueIds'],
  Withdraw: ['configurationName', 'compositeName', 'version', 'reason'],
  Restore: ['configurationName', 'compositeName', 'version'],
  WithdrawParameters: ['configurationName', 'scopeTypeName', 'scopeValue', 'version', 'reason'],
  RestoreParameters: ['configurationName', 'scopeTypeName', 'scopeValue', 'version'],
  ReorderScopeTypes: ['scopeTypeIds'],
  EnableScopeType: ['scopeTypeId'],
  DisableScopeType: ['scopeTypeId'],
  SetLcmConfig: ['nodeIds', 'configurationMode', 'configurationModeInterval', 'reportCompliance'],
  SetServerManaged: ['configurationName', 'useServerManagedParameters'],
  SetProtection: ['on', 'protection'],
  SetSettings: ['configurationName', 'signing', 'variables'],
  StartRollout: [
    ...['configurationName', 'compositeName', 'version', 'parameters', 'steps', 'onHalt', 'message'],
  ],
};

/** The kinds as they are spelled. */
export const CHANGE_KINDS = Object.keys(MEMBERS) as readonly Change['kind'][];

/** A change as answers show it, and as it is kept: with each member of its kind, and never with content. */
export type ShownChange = { kind: Change['kind'] } & Record<string, unknown>;

export function toShownChange(change: Change): ShownChange {
  const given = { ...change, content: null } as Record<string, unknown>;
  if (change.kind === 'SetLcmConfig')
    given['configurationModeInterval'] = change.configurationModeInterval?.text;
  if (change.kind === 'SetProtection') given['on'] = toShownName(change.on);
  if (change.kind === 'StartRollout')
    given['parameters'] = change.parameters?.map(({ scopeTypeName, scopeValue = null, version }) => ({
      ...{ scopeTypeName, scopeValue, version },
    }));
  const members = MEMBERS[change.kind].map((name) => [name, given[name] ?? null] as const);
  return { kind: change.kind, ...Object.fromEntries(members) };
}

export const toShownName = ({ configurationName, compositeName, scopeValueId }: ProtectedName) => ({
  configurationName: configurationName ?? null,
  compositeName: compositeName ?? null,
  scopeValueId: scopeValueId ?? null,
});

/** The change of which `toShownChange` has made this. One with content cannot be had back. */
export function ofShownChange(shown: ShownChange): Change {
  if (shown.kind !== 'SetLcmConfig') return shown as unknown as Change;
  const text = shown['configurationModeInterval'];
  const configurationModeInterval = typeof text === 'string' ? parseDuration(text) : null;
  return { ...shown, configurationModeInterval } as unknown as Change;
}
