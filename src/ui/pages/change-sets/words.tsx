/** Deeds of a change set in words, with links to what they name. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { groupNamed, type Protection, protectionText, useGroups } from '../../components/protection.tsx';
import { apiPath, type Kind, links } from '../../links.ts';
import { useResource, useResources } from '../../resource.ts';
import type { NodeSummary, ScopeType } from '../../types.ts';
import { scopeText } from '../nodes/scope-text.ts';
import { useScopeValues } from '../nodes/scope-values.ts';

/** What deeds name and protect. */
export interface Thing {
  configurationName?: string | null;
  compositeName?: string | null;
  scopeValueId?: string | null;
}

/** The members of all kinds, so that a kind of a newer server is shown too. */
export interface ShownDeed extends Thing {
  kind: string;
  version?: string | null;
  scopeTypeName?: string;
  scopeValue?: string | null;
  reason?: string | null;
  nodeIds?: readonly string[];
  majorVersion?: number | null;
  prereleaseChannel?: string | null;
  isComposite?: boolean | null;
  scopeValueIds?: readonly string[];
  scopeTypeIds?: readonly string[];
  scopeTypeId?: string;
  configurationMode?: string | null;
  configurationModeInterval?: string | null;
  reportCompliance?: boolean | null;
  useServerManagedParameters?: boolean;
  steps?: readonly unknown[];
  on?: Thing;
  protection?: Protection;
  signing?: { require: string; allowedSigners: string } | null;
  variables?: 'Off' | 'On' | null;
}

/** The names of what deeds know by its id alone. An id stands for itself until its name is known. */
export interface Names {
  value(id: string): string;
  type(id: string): string;
  group(id: string | null): string;
}

export function useNames(): Names {
  const values = useScopeValues();
  const groups = useGroups();
  const types = useResource<ScopeType[]>('/scope-types?take=1000', { poll: false });
  return {
    value: (id) => values?.find(({ value }) => value === id)?.label ?? id,
    type: (id) => types.data?.find((type) => type.id === id)?.name ?? id,
    group: (id) => groupNamed(groups, id),
  };
}

interface WordsProps {
  deed: ShownDeed;
  names: Names;
  /** Drafts are published by now. */
  isApplied: boolean;
}

export function DeedWords({ deed, names, isApplied }: WordsProps) {
  const { kind } = deed;
  const version = <VersionLink deed={deed} isDraft={kind.startsWith('Publish') && !isApplied} />;
  switch (kind) {
    case 'PublishConfiguration':
    case 'PublishComposite':
      return <>Publish {version}</>;
    case 'PublishParameters':
      return <>Publish the parameters {version}</>;
    case 'Withdraw':
    case 'WithdrawParameters':
      return (
        <>
          Withdraw {version}
          {deed.reason && <span class="muted"> because: {deed.reason}</span>}
        </>
      );
    case 'Restore':
    case 'RestoreParameters':
      return <>Offer {version} again</>;
    case 'StartRollout':
      return (
        <>
          Roll out {version} in {deed.steps?.length ?? 0} steps
        </>
      );
    case 'SetProtection':
      return (
        <>
          Set the protection of <ThingLink thing={deed.on ?? {}} names={names} />:{' '}
          {deed.protection && protectionText(deed.protection, names.group(deed.protection.groupId))}
        </>
      );
    case 'SetSettings':
      return (
        <>
          Set {deed.signing ? 'who may sign versions' : 'the variables'} of{' '}
          <ThingLink thing={deed} names={names} />: {settingsText(deed)}
        </>
      );
    case 'SetServerManaged':
      return (
        <>
          The server {deed.useServerManagedParameters ? 'manages' : 'no longer manages'} the parameters of{' '}
          <ThingLink thing={deed} names={names} />
        </>
      );
    default:
      return <OnNodesOrScopes deed={deed} names={names} />;
  }
}

/** How many lines name a key, and whether versions must be signed. */
function settingsText({ signing, variables }: ShownDeed): string {
  if (!signing) return variables ?? '';
  const lines = signing.allowedSigners.split('\n').map((line) => line.trim());
  const count = lines.filter((line) => line !== '' && !line.startsWith('#')).length;
  const who = count === 0 ? 'nobody' : count === 1 ? 'one key' : `${count} keys`;
  const signers = signing.require === 'Version' ? `${who}; versions must be signed` : who;
  return variables ? `${signers}; variables ${variables}` : signers;
}

function OnNodesOrScopes({ deed, names }: Omit<WordsProps, 'isApplied'>) {
  const { kind, scopeValueId, scopeValueIds = [], scopeTypeIds = [], scopeTypeId = '' } = deed;
  const value = scopeValueId ? names.value(scopeValueId) : '';
  switch (kind) {
    case 'Assign':
      return (
        <>
          Assign <ThingLink thing={assignedOf(deed)} names={names} /> {limitText(deed)}
        </>
      );
    case 'Unassign':
      return <>Unassign what is assigned</>;
    case 'Tag':
      return <>Tag with {value}</>;
    case 'Untag':
      return <>Take away the tag {value}</>;
    case 'SetTags':
      return (
        <>Tags become {scopeValueIds.length === 0 ? 'none' : scopeValueIds.map(names.value).join(', ')}</>
      );
    case 'SetLcmConfig':
      return <>Set the agent: {lcmText(deed)}</>;
    case 'ReorderScopeTypes':
      return <>Merge parameters in the order {scopeTypeIds.map(names.type).join(', ')}</>;
    case 'EnableScopeType':
      return <>Enable the scope type {names.type(scopeTypeId)}</>;
    case 'DisableScopeType':
      return <>Disable the scope type {names.type(scopeTypeId)}</>;
    default:
      return <code>{JSON.stringify(deed)}</code>;
  }
}

const assignedOf = ({ isComposite, configurationName }: ShownDeed): Thing =>
  isComposite
    ? { compositeName: configurationName ?? null }
    : { configurationName: configurationName ?? null };

function limitText({ version, majorVersion, prereleaseChannel }: ShownDeed): string {
  const limits = [
    ...(version ? [`exactly ${version}`] : []),
    ...(typeof majorVersion === 'number' ? [`major version ${majorVersion}`] : []),
    ...(prereleaseChannel ? [`prereleases from ${prereleaseChannel}`] : []),
  ];
  return limits.length === 0 ? '' : `(${limits.join(', ')})`;
}

function lcmText({ configurationMode, configurationModeInterval, reportCompliance }: ShownDeed): string {
  const given = (what: string, value: unknown) => `${what} ${value ?? 'as the server says'}`;
  return [
    given('mode', configurationMode),
    given('interval', configurationModeInterval),
    given(
      'reports',
      reportCompliance === null || reportCompliance === undefined ? null : reportCompliance ? 'yes' : 'no',
    ),
  ].join(', ');
}

/** The version or parameter file that a deed names. */
function VersionLink({ deed, isDraft }: { deed: ShownDeed; isDraft: boolean }) {
  const { configurationName, compositeName, scopeTypeName, scopeValue = null } = deed;
  const kind: Kind = compositeName ? 'composites' : 'configurations';
  const name = compositeName ?? configurationName ?? '';
  const version = deed.version ?? '';
  if (scopeTypeName !== undefined) {
    const file = { scopeTypeName, scopeValue, version };
    return (
      <a href={links.parameterFile(name, file)}>
        {name} {scopeText(file)} {version}
      </a>
    );
  }
  return (
    <a href={isDraft ? links.review(kind, name, version) : links.version(kind, name, version)}>
      {name} {version}
    </a>
  );
}

/** What is protected, or assigned. */
export function ThingLink({ thing, names }: { thing: Thing; names: Names }): ComponentChildren {
  const { configurationName, compositeName, scopeValueId } = thing;
  if (scopeValueId) return <a href="/ui/scopes">{names.value(scopeValueId)}</a>;
  const name = compositeName ?? configurationName ?? '';
  return <a href={links.named(compositeName ? 'composites' : 'configurations', name)}>{name}</a>;
}

/** So many nodes are named. The preview has all of them. */
const NAMED = 20;

/** How many nodes, and who they are once somebody asks. */
export function NodesOf({ ids }: { ids: readonly string[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{`${ids.length}\u00a0${ids.length === 1 ? 'node' : 'nodes'}`}</summary>
      {isOpen && <NodeNames ids={ids} />}
    </details>
  );
}

function NodeNames({ ids }: { ids: readonly string[] }) {
  const shown = ids.slice(0, NAMED);
  const nodes = useResources<NodeSummary>(
    shown.map((id) => `/nodes${apiPath(id)}`),
    { poll: false },
  );
  return (
    <ul>
      {shown.map((id, at) => (
        <li key={id}>
          <a href={links.node(id)}>{nodes[at]?.data?.fqdn ?? id}</a>
        </li>
      ))}
      {ids.length > NAMED && <li class="muted">and {ids.length - NAMED} more</li>}
    </ul>
  );
}
