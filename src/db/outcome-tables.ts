/** Row types of what is kept for proof: how reports went, and what is in manifests. Rules as in schema.ts. */

/** How the last report of a node went that names a checksum. */
export interface NodeOutcomesTable {
  node_id: string;
  checksum: string;
  had_errors: number;
  /** Whether the node's LCM has been in status Error since that report. */
  lcm_failed: number;
}

/** A configuration in a manifest: a part of a composite, or the configuration itself. */
export interface ManifestPartsTable {
  checksum: string;
  configuration_name: string;
  version: string;
}

/** A parameter file in a manifest, by its tag. */
export interface ManifestFilesTable {
  checksum: string;
  configuration_name: string;
  tag: string;
}

export interface OutcomeTables {
  node_outcomes: NodeOutcomesTable;
  manifest_parts: ManifestPartsTable;
  manifest_files: ManifestFilesTable;
}

/**
 * The statements that make the tables, the same on both engines but for the type of texts.
 * @param kept how the rows are kept, after the columns
 */
export function outcomeStatements(text: string, kept = ''): readonly string[] {
  return [
    `create table node_outcomes (
      node_id ${text} not null references nodes (id) on delete cascade,
      checksum ${text} not null,
      had_errors integer not null,
      lcm_failed integer not null,
      primary key (node_id, checksum)) ${kept}`,
    `create table manifest_parts (
      checksum ${text} not null references manifests (checksum) on delete cascade,
      configuration_name ${text} not null,
      version ${text} not null,
      primary key (checksum, configuration_name)) ${kept}`,
    'create index manifest_parts_by_name on manifest_parts (configuration_name, version)',
    LAST_OUTCOMES,
  ];
}

/** The statements that make the table of the files in manifests, as `outcomeStatements`. */
export function manifestFilesStatements(text: string, kept = ''): readonly string[] {
  return [
    `create table manifest_files (
      checksum ${text} not null references manifests (checksum) on delete cascade,
      configuration_name ${text} not null,
      tag ${text} not null,
      primary key (checksum, configuration_name, tag)) ${kept}`,
    'create index manifest_files_by_tag on manifest_files (tag, configuration_name)',
  ];
}

/**
 * Of the reports that are there only the last one of each node is looked at, because there may be millions. Where it names
 * something else than what the node runs, nothing is known until the next report.
 */
const LAST_OUTCOMES = `insert into node_outcomes (node_id, checksum, had_errors, lcm_failed)
  select last.node_id, last.checksum, p.had_errors,
    case when last.lcm_status = 'Error' and exists (
      select 1 from status_events e
      where e.node_id = last.node_id and e.lcm_status = 'Error' and e.timestamp >= p.timestamp)
      then 1 else 0 end
  from (
    select r.node_id, r.checksum, n.lcm_status, (
      select seq from reports where node_id = r.node_id order by timestamp desc, seq desc limit 1) as seq
    from node_running r join nodes n on n.id = r.node_id where r.checksum is not null) last
  join reports p on p.seq = last.seq
  join report_checksums c on c.report_seq = last.seq and c.source = 'Declared' and c.checksum = last.checksum`;
