/**
 * Chooses a user or group. The API lists users and groups only for those who manage them, so everybody else names one
 * that holds a grant already, themselves, or anyone by the id.
 */

import { useId } from 'preact/hooks';
import { ApiProblem, get } from '../client.ts';
import { withQuery } from '../links.ts';
import { useResource } from '../resource.ts';
import { can, me } from '../session.ts';
import type { Grant, Group, SearchHit, User } from '../types.ts';
import { Field } from './field.tsx';

export type PrincipalType = Grant['principalType'];

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** The most that one page of a list has. Others are found by their whole name. */
const OFFERED = 1_000;

interface Named {
  id: string;
  name: string;
}

function mayList(type: PrincipalType): boolean {
  return can(type === 'User' ? 'users.manage' : 'groups.manage');
}

/** Those whose names are known without a list. */
function knownOf(type: PrincipalType, grants: readonly Grant[]): Named[] {
  const known = grants
    .filter((grant) => grant.principalType === type)
    .map(({ principalId, principalName }) => ({ id: principalId, name: principalName }));
  const self = me.value;
  return type === 'User' && self !== null ? [...known, { id: self.userId, name: self.username }] : known;
}

interface Props {
  type: PrincipalType;
  value: string;
  onInput: (value: string) => void;
  /** The grants that there are already. */
  known: readonly Grant[];
  problem: ApiProblem | null;
}

export function PrincipalField({ type, value, onInput, known, problem }: Props) {
  const id = useId();
  const isListed = mayList(type);
  const path = type === 'User' ? '/users' : '/groups';
  const all = useResource<(User | Group)[]>(isListed ? withQuery(path, { take: OFFERED }) : null, {
    poll: false,
  });
  const listed = (all.data ?? []).map((each) => ('username' in each ? each.username : each.name));
  const names = new Set([...listed, ...knownOf(type, known).map(({ name }) => name)]);
  const word = type.toLowerCase();
  const hint = isListed
    ? `The name or the id of the ${word}.`
    : `You may not list ${word}s. Give the id, which somebody who manages ${word}s can tell you.`;
  return (
    <>
      <Field
        label={type}
        name="principalId"
        value={value}
        onInput={onInput}
        list={id}
        hint={hint}
        required
        autocomplete="off"
        problem={problem}
      />
      <datalist id={id}>
        {[...names].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

/**
 * The id of what was typed: an id, or a name.
 * @throws ApiProblem if nobody of this name can be found
 */
export async function resolvePrincipal(
  type: PrincipalType,
  typed: string,
  grants: readonly Grant[],
): Promise<string> {
  const text = typed.trim();
  if (UUID.test(text)) return text.toLowerCase();
  const found = named(knownOf(type, grants), text) ?? named(await searched(type, text), text);
  if (found !== undefined) return found.id;
  const detail = mayList(type)
    ? `There is no ${type.toLowerCase()} of this name.`
    : `This name is not known here. Give the id of the ${type.toLowerCase()}.`;
  const errors = [{ path: '/principalId', message: detail, code: 'not_found' }];
  throw new ApiProblem(0, { code: 'not_found', detail, errors });
}

function named(all: readonly Named[], text: string): Named | undefined {
  return all.find(({ name }) => name === text) ?? all.find(({ name }) => sameName(name, text));
}

/** Names are unique without regard to case. */
function sameName(one: string, other: string): boolean {
  return one.normalize('NFKC').toLowerCase() === other.normalize('NFKC').toLowerCase();
}

async function searched(type: PrincipalType, text: string): Promise<Named[]> {
  if (!mayList(type)) return [];
  const list = await get<(User | Group)[]>(
    withQuery(type === 'User' ? '/users' : '/groups', { take: OFFERED }),
  );
  const all = (list?.data ?? []).map((each) => ({
    id: each.id,
    name: 'username' in each ? each.username : each.name,
  }));
  if (named(all, text) !== undefined || [...text].length < 2) return all;
  const hits = await get<SearchHit[]>(withQuery('/search', { q: text }));
  return (hits?.data ?? []).filter(({ kind }) => kind === type);
}
