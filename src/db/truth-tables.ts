/** Row types of what is remembered of nodes for whoever asks why and since when. Rules as in schema.ts. */

import type { Generated } from 'kysely';

/** What is wrong in a report. A report without a fault has no row, and neither has one that an earlier release stored. */
export interface ReportFaultsTable {
  report_seq: number;
  /** How many resources are out of their state. */
  out_of_state: number;
  /** JSON: Fault; null where the report names none. */
  first_fault: string | null;
}

/** The last report by which a node is NonCompliant or in Error. Other nodes have no row. */
export interface NodeFaultsTable {
  node_id: string;
  report_id: string;
  timestamp: number;
  /** As that of the report, which may be deleted before the node is well. */
  first_fault: string | null;
}

/** With which error the last poll of a node was answered, and since when. Nodes whose poll was answered have no row. */
export interface NodeProblemsTable {
  node_id: string;
  code: string;
  detail: string;
  since: number;
}

/** What the last poll of a node was told to be offered. Null: nothing. */
export interface NodeOffersTable {
  node_id: string;
  checksum: string | null;
  /** Null also where no manifest told it. */
  configuration_name: string | null;
  version: string | null;
}

/** What a node is offered or runs has changed. */
export interface NodeEventsTable {
  /** Later events have higher numbers. */
  seq: Generated<number>;
  node_id: string;
  timestamp: number;
  kind: 'Offered' | 'Running';
  /** JSON: Having; null for nothing. */
  before: string | null;
  after: string | null;
}

/** How all nodes were at the end of an hour. */
export interface FleetHoursTable {
  ended: number;
  /** JSON: StateCounts. */
  counts: string;
}

/** How the nodes were that were offered a configuration or composite. Hours in which that stayed the same have no row. */
export interface OfferedHoursTable extends FleetHoursTable {
  resource_id: string;
}

/** The name of a node that was deleted. Another node may have it since. */
export interface DeletedNodeNamesTable {
  fqdn: string;
}

export interface TruthTables {
  deleted_node_names: DeletedNodeNamesTable;
  fleet_hours: FleetHoursTable;
  offered_hours: OfferedHoursTable;
  node_offers: NodeOffersTable;
  node_events: NodeEventsTable;
  report_faults: ReportFaultsTable;
  node_faults: NodeFaultsTable;
  node_problems: NodeProblemsTable;
}

/** The statements that make the tables, the same on both engines but for the type of texts and of the number of a row. */
export function truthStatements(text: string, numbered: string): readonly string[] {
  const ofNode = `node_id ${text} not null primary key references nodes (id) on delete cascade`;
  return [
    'alter table nodes add column status_since bigint',
    `update nodes set status_since = (
      select timestamp from status_events e where e.node_id = nodes.id and e.status is not null
      order by timestamp desc, id desc limit 1)`,
    // These are no columns of reports: they would stand behind the result, and a list would read all of it to reach them.
    `create table report_faults (
      report_seq bigint not null primary key,
      out_of_state bigint not null,
      first_fault ${text})`,
    `create table node_faults (
      ${ofNode},
      report_id ${text} not null,
      timestamp bigint not null,
      first_fault ${text})`,
    `create table node_problems (
      ${ofNode},
      code ${text} not null,
      detail ${text} not null,
      since bigint not null)`,
    `create table node_offers (
      ${ofNode},
      checksum ${text},
      configuration_name ${text},
      version ${text})`,
    `insert into node_offers (node_id, checksum, configuration_name, version)
      select r.node_id, r.answered_checksum, m.configuration_name, m.version
      from node_running r left join manifests m on m.checksum = r.answered_checksum
      where r.answered_checksum is not null`,
    `create table node_events (
      seq ${numbered},
      node_id ${text} not null references nodes (id) on delete cascade,
      timestamp bigint not null,
      kind ${text} not null check (kind in ('Offered', 'Running')),
      before ${text},
      after ${text})`,
    'create index node_events_by_node on node_events (node_id, timestamp, seq)',
    `create table fleet_hours (
      ended bigint not null primary key,
      counts ${text} not null)`,
    `create table offered_hours (
      resource_id ${text} not null,
      ended bigint not null,
      counts ${text} not null,
      primary key (resource_id, ended))`,
    'create index offered_hours_by_time on offered_hours (ended)',
  ];
}
