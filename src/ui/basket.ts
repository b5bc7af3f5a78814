/** The change set into which this browser collects what is proposed. The header names it. */

import { ApiProblem, get, send } from './client.ts';
import { keep, readKept } from './kept.ts';
import { apiPath, withQuery } from './links.ts';
import { useResource } from './resource.ts';
import { can, me } from './session.ts';
import type { ChangeSet, PreviewChange } from './types.ts';

const KEY = 'hawser.change';
/** In milliseconds. It is read again after each deed, too. */
export const PAUSE = 60_000;
/** So many sets of one person are open at once at most, where one of them can be collected into. */
const MOST = 100;
const TITLE_LENGTH = 200;

/** Something to propose, with the title that a new set gets. */
export interface Collectable {
  title: string;
  deeds: () => readonly PreviewChange[] | Promise<readonly PreviewChange[]>;
}

export interface Basket {
  /** Null: what is added becomes a new set. */
  id: number | null;
  /** Null while it is not known. */
  deeds: number | null;
}

/** Where the sets are listed of which the user is an author. */
export const mySets = (state: ChangeSet['state']) =>
  withQuery('/change-sets', { state, author: me.value?.username, take: MOST });

/** @param id null: nothing is collected any more */
export function collectInto(id: number | null): void {
  keep(KEY, id === null ? null : String(id));
}

/** The set that was chosen, as long as it is open and the user is an author of it. */
export function useBasket(): Basket {
  const kept = Number(readKept(KEY)) || null;
  const { data } = useResource<ChangeSet[]>(kept === null ? null : mySets('Open'), { pause: () => PAUSE });
  if (data === null) return { id: kept, deeds: null };
  const set = data.find(({ id }) => id === kept);
  return set === undefined
    ? { id: null, deeds: null }
    : { id: set.id, deeds: set.deeds.length + set.hiddenDeeds };
}

export const labelOf = ({ id }: Basket) => (id === null ? 'Add to a change' : `Add to change ${id}`);

/** Why the user may propose nothing; null if nothing is against it. */
export const reasonAgainstProposing = () =>
  can('nodes.read') ? null : 'You may not see nodes (nodes.read).';

/**
 * Adds deeds to a set, or makes a new one of them, into which is collected from then on.
 * @returns what was done @throws ApiProblem
 */
export async function addToChange({ id }: Basket, { title, deeds }: Collectable): Promise<string> {
  const wanted = await deeds();
  if (id === null) {
    const body = { title: [...title].slice(0, TITLE_LENGTH).join(''), deeds: wanted };
    const made = (await send<ChangeSet>('POST', '/change-sets', body)).data.id;
    collectInto(made);
    return `Change ${made} is made of it. It changes nothing until it is applied.`;
  }
  const path = apiPath('change-sets', String(id));
  const reply = await get<ChangeSet>(path);
  if (reply === null)
    throw new ApiProblem(0, { code: 'unreachable', detail: 'The server sent no change set.' });
  const added = wanted.filter((deed) => !reply.data.deeds.some((each) => isSame(deed, each)));
  if (added.length === 0) return `It is in change ${id} already.`;
  await putSet(reply.data, { deeds: [...reply.data.deeds, ...added] }, reply.etag);
  return `It was added to change ${id}.`;
}

/** Changes members of a set, which is replaced as a whole. @returns its digest @throws ApiProblem */
export async function putSet(
  { id, title, description, deeds, hiddenDeeds }: ChangeSet,
  changes: { title?: string; description?: string | null; deeds?: readonly object[] },
  etag: string | null,
): Promise<string> {
  if (hiddenDeeds > 0) throw new ApiProblem(0, { code: 'hidden_deeds', detail: HIDDEN });
  const body = { title, description, deeds, ...changes };
  const path = apiPath('change-sets', String(id));
  return (await send<ChangeSet>('PUT', path, body, { ifMatch: etag })).data.digest;
}

/** What is sent takes the place of all deeds, and what is not seen cannot be sent. */
export const HIDDEN = 'The change set has deeds that you may not see, so you cannot edit it.';

/** What is not given is null in answers. */
function isSame(wanted: PreviewChange, kept: object): boolean {
  return Object.entries(kept).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify(Reflect.get(wanted, name) ?? null),
  );
}
