/** The tokens of somebody: one's own, or those of a service account. A new one is shown once. */

import { useState } from 'preact/hooks';
import { send } from '../client.ts';
import { apiPath } from '../links.ts';
import { useList } from '../list.ts';
import type { CreatedToken, Token } from '../types.ts';
import { DeedDialog } from './dialog.tsx';
import { Empty } from './empty.tsx';
import { ExpiryField, expiryTime, inDays, isExpiryGiven } from './expiry-field.tsx';
import { Field } from './field.tsx';
import { Mark } from './marks.tsx';
import { PartTable } from './part-table.tsx';
import { ShownOnce } from './shown-once.tsx';
import type { Column } from './table.tsx';
import { Time } from './time.tsx';
import { ScopeChoice, Scopes } from './token-scopes.tsx';

interface TokensProps {
  /** The path of the tokens in the API. */
  path: string;
  /** Whether they are the caller's own. */
  isOwn: boolean;
  /** Why no token can be made or revoked. */
  reason?: string | null;
}

export function Tokens({ path, isOwn, reason = null }: TokensProps) {
  const list = useList<Token>(path);
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<CreatedToken | null>(null);
  const [revoked, setRevoked] = useState<Token | null>(null);
  return (
    <section class="part">
      <div class="bar">
        <h2>Tokens</h2>
        {reason === null && (
          <button type="button" onClick={() => setMaking(true)}>
            New token
          </button>
        )}
        {reason !== null && <span class="hint">{reason}</span>}
      </div>
      <PartTable
        name="Tokens"
        list={list}
        columns={columns(reason === null ? setRevoked : null)}
        keyOf={({ id }) => id}
        none={
          <Empty>
            <p>There is no token yet. Scripts and git use tokens instead of a password.</p>
          </Empty>
        }
      />
      {isMaking && (
        <NewToken
          path={path}
          isOwn={isOwn}
          onClose={() => setMaking(false)}
          onMade={(token) => setMade(token)}
        />
      )}
      {made !== null && (
        <ShownOnce
          heading={`Token ${made.name}`}
          what="token"
          secret={made.token}
          onClose={() => setMade(null)}
        >
          <p class="hint">
            Scripts send it as <code>Authorization: Bearer</code> and the token; git takes it as the password.
          </p>
        </ShownOnce>
      )}
      {revoked !== null && (
        <DeedDialog
          heading={`Revoke ${revoked.name}`}
          deed="Revoke"
          isDanger
          onClose={() => setRevoked(null)}
          run={async () => {
            await send('DELETE', `${path}${apiPath(revoked.id)}`);
            return `The token ${revoked.name} is revoked.`;
          }}
        >
          <p>What uses this token is refused from now on. It cannot be taken back.</p>
        </DeedDialog>
      )}
    </section>
  );
}

type OnRevoke = ((token: Token) => void) | null;

function columns(onRevoke: OnRevoke): readonly Column<Token>[] {
  return [
    { label: 'Name', isName: true, isLong: true, cell: ({ name }) => name },
    { label: 'State', cell: (token) => <TokenState token={token} /> },
    { label: 'Prefix', cell: ({ tokenPrefix }) => <code class="prefix">{tokenPrefix}</code> },
    { label: 'Scopes', isLong: true, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
    { label: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    { label: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      label: 'Actions',
      cell: (token) =>
        onRevoke !== null &&
        !token.isRevoked && (
          <button type="button" class="small" onClick={() => onRevoke(token)}>
            Revoke
          </button>
        ),
    },
  ];
}

function TokenState({ token: { isRevoked, expiresAt } }: { token: Token }) {
  if (isRevoked) return <Mark word="Revoked" tone="idle" />;
  const isOver = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  return isOver ? <Mark word="Expired" tone="warn" /> : <Mark word="Active" tone="good" />;
}

interface NewTokenProps {
  path: string;
  isOwn: boolean;
  onClose: () => void;
  onMade: (token: CreatedToken) => void;
}

function NewToken({ path, isOwn, onClose, onMade }: NewTokenProps) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set());
  const [expiry, setExpiry] = useState(inDays(90));
  return (
    <DeedDialog
      heading="New token"
      deed="Create"
      isWide
      isDisabled={name.trim() === '' || !isExpiryGiven(expiry)}
      onClose={onClose}
      run={async () => {
        const wish = { name, scopes: [...scopes], expiresAt: expiryTime(expiry) };
        onMade((await send<CreatedToken>('POST', path, wish)).data);
        return null;
      }}
    >
      {(problem) => (
        <>
          <Field
            label="Name"
            name="name"
            hint="Says what it is for, such as the pipeline that uses it."
            autocomplete="off"
            required
            problem={problem}
            value={name}
            onInput={setName}
          />
          <ExpiryField
            days={[30, 90, 365]}
            canBeNever
            value={expiry}
            onChange={setExpiry}
            problem={problem}
          />
          <ScopeChoice isOwn={isOwn} chosen={scopes} onChange={setScopes} />
        </>
      )}
    </DeedDialog>
  );
}
