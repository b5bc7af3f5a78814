/** Who is in a group, and why. Users are added by their names, which are proposed as somebody types. */

import { useEffect, useId, useState } from 'preact/hooks';
import { ApiProblem, get, send } from '../../client.ts';
import { DeedDialog, useDeed } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Field } from '../../components/field.tsx';
import { Problem } from '../../components/problem.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { apiPath, links, withQuery } from '../../links.ts';
import { useList } from '../../list.ts';
import { LOCAL, labelOf, useProviders } from '../../providers.ts';
import { can } from '../../session.ts';
import type { GroupDetails, Member, Provider, SearchHit } from '../../types.ts';
import { UserMarks } from './user-marks.tsx';

interface MembersProps {
  group: GroupDetails;
  etag: string | null;
}

export function Members({ group, etag }: MembersProps) {
  const path = `${apiPath('groups', group.id)}/members`;
  const list = useList<Member>(path);
  const providers = useProviders();
  // Those of a provider come and go by their sign-ins. Sent, they would become members for good.
  const ids = group.members.filter(({ source }) => source === LOCAL).map(({ id }) => id);
  const put = (userIds: readonly string[]) => send('PUT', path, { userIds }, { ifMatch: etag });
  const [leaving, setLeaving] = useState<Member | null>(null);
  return (
    <section class="part">
      <h2>Members</h2>
      {can('users.manage') ? (
        <AddMember group={group} onAdd={(id) => put([...ids, id])} />
      ) : (
        <p class="hint">You may not see users, so you can remove members but not add any.</p>
      )}
      {ids.length < group.members.length && <OfProviders />}
      <DataTable
        name="Members"
        list={list}
        columns={columns(providers, setLeaving)}
        keyOf={({ id }) => id}
        none={
          <Empty>
            <p>Nobody is in this group.</p>
          </Empty>
        }
      />
      {leaving !== null && (
        <DeedDialog
          heading={`Remove ${leaving.username}`}
          deed="Remove"
          onClose={() => setLeaving(null)}
          run={async () => {
            await put(ids.filter((id) => id !== leaving.id));
            return `${leaving.username} was removed from ${group.name}.`;
          }}
        >
          <p>
            {leaving.username} loses the roles and grants of {group.name}
            {providers.length > 0 && ', unless a mapping of a provider gives them too'}.
          </p>
        </DeedDialog>
      )}
    </section>
  );
}

function OfProviders() {
  return (
    <p class="hint">
      Who is a member by a provider came with the sign-in there, through one of the{' '}
      <a href="/ui/access/mappings">mappings</a>, and cannot be removed here: take the person out of the group
      at the provider, or delete the mapping.
    </p>
  );
}

function columns(
  providers: readonly Provider[],
  onRemove: (member: Member) => void,
): readonly Column<Member>[] {
  return [
    {
      label: 'Name',
      isName: true,
      isLong: true,
      cell: ({ id, username }) => (can('users.manage') ? <a href={links.user(id)}>{username}</a> : username),
    },
    { label: 'Kind', cell: ({ accountType }) => accountType },
    { label: 'Source', cell: ({ source }) => labelOf(providers, source) },
    { label: 'State', cell: (user) => <UserMarks user={user} none="–" /> },
    { label: 'E-mail', isLong: true, cell: ({ email }) => email },
    {
      label: 'Actions',
      cell: (member) =>
        member.source === LOCAL ? (
          <button type="button" class="small" onClick={() => onRemove(member)}>
            Remove
          </button>
        ) : (
          <span class="hint">comes with the sign-in</span>
        ),
    },
  ];
}

/** The search takes so many characters at least. */
const SEARCH_FROM = 2;

async function findUsers(text: string, signal?: AbortSignal): Promise<SearchHit[]> {
  if ([...text].length < SEARCH_FROM) return [];
  const reply = await get<SearchHit[]>(withQuery('/search', { q: text }), signal ? { signal } : {});
  return (reply?.data ?? []).filter(({ kind }) => kind === 'User');
}

/** Users that have the text in their names. */
function useProposals(text: string): readonly SearchHit[] {
  const [hits, setHits] = useState<readonly SearchHit[]>([]);
  useEffect(() => {
    const leaving = new AbortController();
    // Proposals are a help: where they cannot be had, the deed itself says why.
    findUsers(text, leaving.signal).then(setHits, () => undefined);
    return () => leaving.abort();
  }, [text]);
  return hits;
}

interface AddMemberProps {
  group: GroupDetails;
  onAdd: (id: string) => Promise<unknown>;
}

function AddMember({ group, onAdd }: AddMemberProps) {
  const id = useId();
  const [name, setName] = useState('');
  const proposals = useProposals(name.trim());
  const { isBusy, problem, start } = useDeed(async () => {
    await onAdd(await idOf(name.trim()));
    setName('');
    return `${name.trim()} was added to ${group.name}.`;
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void start();
  };
  return (
    <form class="add-member" aria-label="Add a member" onSubmit={submit}>
      <Field
        label="User name"
        name="username"
        autocomplete="off"
        list={`${id}-proposals`}
        required
        value={name}
        onInput={setName}
      />
      <datalist id={`${id}-proposals`}>
        {proposals.map((hit) => (
          <option key={hit.id} value={hit.name}>
            {hit.detail}
          </option>
        ))}
      </datalist>
      <button type="submit" disabled={isBusy || name.trim() === ''} aria-busy={isBusy}>
        Add member
      </button>
      {problem !== null && <Problem problem={problem} />}
    </form>
  );
}

/** @throws ApiProblem where no user has this very name */
async function idOf(name: string): Promise<string> {
  const hits = await findUsers(name);
  const hit = hits.find((user) => user.name.toLowerCase() === name.toLowerCase());
  if (hit === undefined)
    throw new ApiProblem(404, { code: 'not_found', detail: `No user has the name ${name}.` });
  return hit.id;
}
