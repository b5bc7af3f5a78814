/** Lists of the API whose filters, sort and page stand in the URL, by the names that the API's queries have. */

import { useRef } from 'preact/hooks';
import { withQuery } from './links.ts';
import { type Resource, useResource } from './resource.ts';
import { changedUrl, usePlace } from './router.ts';

export const PAGE_SIZE = 100;

export interface ListOptions {
  /** The members of the query that filter. Others in the URL are not the list's. */
  filters?: readonly string[];
  /** Members of the query that are always sent. */
  fixed?: Readonly<Record<string, string>>;
  /** The name of the member of the URL that holds the page, where two lists stand on one page. */
  pageName?: string;
  /** False for a list that the API cannot sort, on a page whose URL may sort another one. */
  sorts?: boolean;
  /** How many rows a page has. */
  size?: number;
  poll?: boolean;
}

export interface List<T> {
  resource: Resource<T[]>;
  /** Those of this page; while another page is on its way, those that were there before. */
  rows: readonly T[];
  total: number;
  /** From 1. */
  page: number;
  pageCount: number;
  /** The filters that are set, by name. */
  query: Readonly<Record<string, string>>;
  isFiltered: boolean;
  /** As in the URL, such as `-lastCheckIn`; empty where the list has its usual order. */
  sort: string;
  /** Other rows than those of the URL are shown, until those are there. */
  isBusy: boolean;
  /** The list in the API with its filters and without paging: for exports and deeds. */
  wholePath: string;
  pageUrl(page: number): string;
  sortUrl(sort: string): string;
  /** Sets and removes filters (null), and goes back to the first page. */
  setFilters(changes: Readonly<Record<string, string | null>>, isStep?: boolean): void;
}

/**
 * Rows that are there already, filtered and a page of them at a time.
 * @param meets says whether a row meets the filters that are set
 */
export function usePages<T>(
  rows: readonly T[],
  filters: readonly string[] = [],
  meets: (row: T, query: List<T>['query']) => boolean = () => true,
): List<T> {
  const list = useList<T>(null, { filters });
  const met = rows.filter((row) => meets(row, list.query));
  const from = (list.page - 1) * PAGE_SIZE;
  return {
    ...list,
    rows: met.slice(from, from + PAGE_SIZE),
    total: met.length,
    pageCount: Math.max(1, Math.ceil(met.length / PAGE_SIZE)),
    isBusy: false,
  };
}

/** @param path below /api/v1; null: not known yet */
export function useList<T>(path: string | null, options: ListOptions = {}): List<T> {
  const place = usePlace();
  const {
    filters = [],
    fixed = {},
    pageName = 'page',
    sorts = true,
    size = PAGE_SIZE,
    poll = true,
  } = options;
  const query: Record<string, string> = {};
  for (const name of filters) {
    const value = place.query.get(name);
    if (value !== null && value !== '') query[name] = value;
  }
  const sort = sorts ? (place.query.get('sort') ?? '') : '';
  const page = Math.max(1, Math.floor(Number(place.query.get(pageName) ?? 1)) || 1);
  const whole = { ...fixed, ...query, ...(sort === '' ? {} : { sort }) };
  const paging = { skip: (page - 1) * size || null, take: size };
  const resource = useResource<T[]>(path && withQuery(path, { ...whole, ...paging }), { poll });
  const before = useRef<{ rows: readonly T[]; total: number }>({ rows: [], total: 0 });
  if (resource.data !== null)
    before.current = { rows: resource.data, total: resource.total ?? resource.data.length };
  const { rows, total } = before.current;
  const urlOf = (changes: Record<string, string | null>) => changedUrl(place.path, place.query, changes);
  return {
    resource,
    rows,
    total,
    page,
    pageCount: Math.max(1, Math.ceil(total / size)),
    query,
    isFiltered: Object.keys(query).length > 0,
    sort,
    isBusy: resource.data === null && resource.state === 'loading',
    wholePath: path === null ? '' : withQuery(path, whole),
    pageUrl: (to) => urlOf({ [pageName]: to === 1 ? null : String(to) }),
    sortUrl: (to) => urlOf({ sort: to, [pageName]: null }),
    setFilters: (changes, isStep) => place.setQuery({ ...changes, [pageName]: null }, isStep),
  };
}
