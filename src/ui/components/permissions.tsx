/** Who holds which grant on a configuration, a composite or the parameters of a configuration. */

import { useState } from 'preact/hooks';
import { send } from '../client.ts';
import { apiPath, links, withQuery } from '../links.ts';
import { useList } from '../list.ts';
import { can, me } from '../session.ts';
import type { Grant } from '../types.ts';
import { DeedDialog } from './dialog.tsx';
import { Empty } from './empty.tsx';
import { SelectField } from './field.tsx';
import { GrantedScope, idsOf, ScopeFields, useScopeChoice } from './granted-scope.tsx';
import { PrincipalField, type PrincipalType, resolvePrincipal } from './principal-field.tsx';
import { DataTable } from './table.tsx';
import { Time } from './time.tsx';

const LEVELS = [
  { value: 'Read', label: 'Read: see it' },
  { value: 'Modify', label: 'Modify: make, change and publish versions' },
  { value: 'Manage', label: 'Manage: delete, withdraw, settings and permissions too' },
] as const;

type Asked = { kind: 'grant'; grant: Grant | null } | { kind: 'revoke'; grant: Grant };

/** The list of grants, which needs Manage. A page gives it to `Page` too, so that a refusal is the page's. */
export function useGrants(path: string | null, pageName = 'page') {
  return useList<Grant>(path, { pageName, sorts: false });
}

interface Props {
  /** In the API, such as `/configurations/web/permissions`. */
  path: string;
  /** What the grants are on, in words, such as `web` or `the parameters of web`. */
  on: string;
  list: ReturnType<typeof useGrants>;
  /** The name of the table, and the button, where a page has two of them. */
  name?: string;
  deed?: string;
  /** What holds where nobody has a grant. */
  hint?: string;
  /** Whether the grants have scopes, which are those of parameters. */
  hasScopes?: boolean;
}

const OVERRIDES =
  'Holders of an override permission, such as administrators, may do all this without a grant.';

export function Permissions(props: Props) {
  const { path, on, list, name = 'Permissions', deed = 'Grant', hint = OVERRIDES } = props;
  const { hasScopes = false } = props;
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  return (
    <section class="part" aria-label={name}>
      <div class="bar">
        <p class="hint">{hint}</p>
        <span class="actions">
          <button type="button" class="primary" onClick={() => setAsked({ kind: 'grant', grant: null })}>
            {deed}
          </button>
        </span>
      </div>
      <GrantsTable name={name} list={list} hasScopes={hasScopes} ask={setAsked} />
      {asked?.kind === 'grant' && (
        <GrantDialog {...{ path, on, hasScopes }} grant={asked.grant} known={list.rows} onClose={close} />
      )}
      {asked?.kind === 'revoke' && <RevokeDialog path={path} on={on} grant={asked.grant} onClose={close} />}
    </section>
  );
}

interface TableProps extends Pick<Props, 'list'> {
  name: string;
  hasScopes: boolean;
  ask: (asked: Asked) => void;
}

function GrantsTable({ name, list, hasScopes, ask }: TableProps) {
  return (
    <DataTable
      name={name}
      list={list}
      keyOf={(grant) => `${grant.principalType} ${grant.principalId} ${Object.values(idsOf(grant)).join()}`}
      none={
        <Empty>
          <p>Nobody holds a grant here. Grant somebody a level to share the work.</p>
        </Empty>
      }
      columns={[
        { label: 'Name', isName: true, cell: (grant) => <Holder grant={grant} /> },
        { label: 'Kind', cell: ({ principalType }) => principalType },
        { label: 'Level', cell: ({ level }) => level },
        ...(hasScopes ? [{ label: 'Scope', cell: (grant: Grant) => <GrantedScope grant={grant} /> }] : []),
        { label: 'Granted', cell: ({ grantedAt }) => <Time at={grantedAt} /> },
        {
          label: 'Actions',
          cell: (grant) => (
            <span class="row-deeds">
              <button type="button" class="small" onClick={() => ask({ kind: 'grant', grant })}>
                Change level<span class="visually-hidden"> of {grant.principalName}</span>
              </button>
              <button type="button" class="small" onClick={() => ask({ kind: 'revoke', grant })}>
                Revoke<span class="visually-hidden"> {grant.principalName}</span>
              </button>
            </span>
          ),
        },
      ]}
    />
  );
}

/** The name leads to the user or group for those who may see it. */
function Holder({ grant: { principalType, principalId, principalName } }: { grant: Grant }) {
  const isUser = principalType === 'User';
  const name = principalName === '' ? principalId : principalName;
  if (!can(isUser ? 'users.manage' : 'groups.manage'))
    return (
      <>
        {name}
        {principalId === me.value?.userId && <span class="muted"> (you)</span>}
      </>
    );
  return <a href={isUser ? links.user(principalId) : links.group(principalId)}>{name}</a>;
}

interface GrantProps extends Pick<Props, 'path' | 'on' | 'hasScopes'> {
  /** The grant whose level changes; null for a new one. */
  grant: Grant | null;
  known: readonly Grant[];
  onClose: () => void;
}

function GrantDialog({ path, on, grant, known, hasScopes = false, onClose }: GrantProps) {
  const [principalType, setType] = useState<PrincipalType>(grant?.principalType ?? 'Group');
  const [typed, setTyped] = useState('');
  const [level, setLevel] = useState<string>(grant?.level ?? 'Read');
  const choice = useScopeChoice(grant, hasScopes);
  const run = async () => {
    const principalId = grant?.principalId ?? (await resolvePrincipal(principalType, typed, known));
    const scope = hasScopes ? await choice.resolve() : {};
    await send('PUT', path, { principalType, principalId, level, ...scope });
    return `${grant?.principalName ?? typed.trim()} has ${level} on ${on}.`;
  };
  return (
    <DeedDialog
      heading={grant === null ? `Grant access to ${on}` : `Change the grant of ${grant.principalName}`}
      deed="Grant"
      run={run}
      onClose={onClose}
    >
      {(problem) => (
        <>
          {grant === null && (
            <>
              <SelectField
                label="Kind"
                name="principalType"
                value={principalType}
                onInput={(value) => {
                  setType(value as PrincipalType);
                  setTyped('');
                }}
                choices={[
                  { value: 'Group', label: 'Group' },
                  { value: 'User', label: 'User' },
                ]}
                problem={problem}
              />
              <PrincipalField
                type={principalType}
                value={typed}
                onInput={setTyped}
                known={known}
                problem={problem}
              />
            </>
          )}
          <SelectField
            label="Level"
            name="level"
            value={level}
            onInput={setLevel}
            choices={LEVELS}
            problem={problem}
          />
          {hasScopes && <ScopeFields choice={choice} />}
        </>
      )}
    </DeedDialog>
  );
}

function RevokeDialog({ path, on, grant, onClose }: Omit<GrantProps, 'known'> & { grant: Grant }) {
  const { principalType, principalId, principalName, level } = grant;
  return (
    <DeedDialog
      heading={`Revoke ${principalName}`}
      deed="Revoke"
      isDanger
      onClose={onClose}
      run={async () => {
        await send('DELETE', withQuery(path + apiPath(principalType, principalId), { ...idsOf(grant) }));
        return `${principalName} holds no grant on ${on} any more.`;
      }}
    >
      <p>
        {principalName} loses {level} on {on}. What {principalType === 'User' ? 'the user' : 'its members'}{' '}
        may do by other groups or roles stays.
        {principalId === me.value?.userId && <strong> This is your own grant.</strong>}
      </p>
    </DeedDialog>
  );
}
