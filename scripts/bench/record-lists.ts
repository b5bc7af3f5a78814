/**
 * Lists of nodes, reports and status events. Compares small tables with large ones; both answers have the same number
 * of items.
 */

import { DAY, toTimestamp } from '../../src/lib/clock.ts';
import { NEWEST_VERSION } from './fleet.ts';
import { compare, SCALE_TARGET, timeAnswer, timeList } from './list-timing.ts';
import { RARE_NODES, RECORDS_OF_ONE, type RecordSite } from './record-site.ts';
import type { ScaleRow } from './scale.ts';
import type { Effort } from './scenarios.ts';

const TAKE = 20;
const DAYS = 30;
/** An answer within so many milliseconds is fast enough, whatever the ratio. */
const FAST = 5;
/** The same for what goes through all nodes, in a thread. */
const FAST_OF_FLEET = 100;

interface List {
  what: string;
  compared: string;
  path(site: RecordSite): string;
  /** The number of items in the answer. */
  items: number;
  target: number | null;
  fast: number;
}

export async function compareRecordLists(
  few: RecordSite,
  many: RecordSite,
  effort: Effort,
): Promise<ScaleRow[]> {
  const requests = effort.records.listRequests;
  const rows: ScaleRow[] = [];
  for (const { what, compared, path, items, target, fast } of listsOf(few, many)) {
    const timing = (site: RecordSite) => timeList(site.client, path(site), items, { requests });
    rows.push(await compare(what, compared, { few: timing(few), many: timing(many) }, effort, target, fast));
  }
  const summary = (site: RecordSite) => timeAnswer(site.client, '/api/v1/fleet/summary', requests);
  const compared = `${few.size.nodes} : ${many.size.nodes} nodes`;
  const pair = { few: summary(few), many: summary(many) };
  rows.push(await compare('fleet summary', compared, pair, effort, SCALE_TARGET, FAST_OF_FLEET));
  return rows;
}

function listsOf(few: RecordSite, many: RecordSite): List[] {
  return [...nodeLists(few, many), ...recordLists(few, many)];
}

function nodeLists(few: RecordSite, many: RecordSite): List[] {
  const compared = `${few.size.nodes} : ${many.size.nodes} nodes`;
  const list = (what: string, query: (site: RecordSite) => string, items = TAKE): List => ({
    ...{ what: `nodes, ${what}`, compared, items, target: SCALE_TARGET, fast: FAST_OF_FLEET },
    path: (site) => `/api/v1/nodes?take=${TAKE}${query(site)}`,
  });
  return [
    list('all', () => ''),
    list('a status of few', () => '&status=Error', RARE_NODES),
    list('a status of half', () => '&status=Compliant'),
    list('fqdn contains, one', (site) => `&fqdn=${site.oneNode}`, 1),
    list('fqdn contains, all', () => '&fqdn=example'),
    list('of a configuration', () => '&configurationName=configuration-0003'),
    list('of one and a status', () => '&configurationName=configuration-0003&status=Compliant'),
    list('offered a version', () => `&version=${NEWEST_VERSION}`),
    list('unassigned', () => '&unassigned=true', 0),
    list('with evidence', () => '&evidence=Told'),
    list('with a tag', (site) => `&scopeValueId=${site.tag}`),
    list('not stale', () => '&stale=false'),
    list('stale', () => '&stale=true'),
    list('of one, not stale', () => '&configurationName=configuration-0003&stale=false'),
    list('certificate ends', () => '&certificateExpiring=true'),
    ...['fqdn', 'lastCheckIn', 'createdAt', 'status'].flatMap((order) => [
      list(`by ${order}`, () => `&sort=${order}`),
      list(`by ${order}, falling`, () => `&sort=-${order}`),
    ]),
    list('status by last call', () => '&status=Compliant&sort=lastCheckIn'),
  ];
}

function recordLists(few: RecordSite, many: RecordSite): List[] {
  const all = `${few.size.reports} : ${many.size.reports}`;
  // Counting takes longer if a node has more of its own; its retention limits that.
  const busy = `${few.size.reportsOfBusy} : ${many.size.reportsOfBusy} of it`;
  const list = (what: string, compared: string, path: (site: RecordSite) => string): List => ({
    ...{ what, compared, items: TAKE, target: compared === busy ? null : SCALE_TARGET, fast: FAST },
    path: (site) => `${path(site)}${path(site).includes('?') ? '&' : '?'}take=${TAKE}`,
  });
  const ofNode = (id: string, records: string) => `/api/v1/nodes/${id}/${records}`;
  const reports = '/api/v1/reports';
  return [
    list('status history of a node', `${RECORDS_OF_ONE} of it`, (site) =>
      ofNode(site.oneNode, 'status-history'),
    ),
    list('status history of a busy node', busy, (site) => ofNode(site.busyNode, 'status-history')),
    list('reports of a node', `${RECORDS_OF_ONE} of it, ${all}`, (site) => ofNode(site.oneNode, 'reports')),
    list('reports of a node, in Set', `${RECORDS_OF_ONE} of it, ${all}`, (site) =>
      ofNode(site.oneNode, 'reports?operation=Set'),
    ),
    list('reports of a busy node', busy, (site) => ofNode(site.busyNode, 'reports')),
    list('reports, all', all, () => reports),
    list('reports, one operation', all, () => `${reports}?operation=Set`),
    list('reports, with errors', all, () => `${reports}?hadErrors=true`),
    list('reports, not compliant', all, () => `${reports}?operation=Test&inDesiredState=false`),
    list(`reports, ${DAYS} days`, all, ({ end }) => `${reports}?from=${timeBefore(end, DAYS)}`),
  ];
}

function timeBefore(end: number, days: number): string {
  return encodeURIComponent(toTimestamp(end - days * DAY));
}
