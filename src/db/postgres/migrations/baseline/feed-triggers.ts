/** What caches are told of: the feed of changes, and the numbers that rise with every change. */

import { GENERATIONS } from './site-tables.ts';
import { afterEach, differences, type Event, rowsOf } from './trigger.ts';

/** The number of changes that are kept. A process that is further behind clears its caches. */
const KEPT = 10_000;

const EVENTS = ['insert', 'update', 'delete'] as const;

type Generation = (typeof GENERATIONS)[number];

/**
 * Raises a number once for a statement that has changed rows. A statement that names columns sees no rows all together,
 * so there it is done for each row.
 */
const RAISING = GENERATIONS.flatMap((generation) => [
  `create function raise_${generation}() returns trigger language plpgsql as $$
    begin
      if not exists (select from changed) then return null; end if;
      update ${generation} set value = value + 1 where id = 1;
      return null;
    end $$`,
  `create function raise_${generation}_once() returns trigger language plpgsql as $$
    begin
      update ${generation} set value = value + 1 where id = 1;
      return null;
    end $$`,
]);

function raises(generation: Generation, table: string, event: Event): string {
  const seen = event === 'delete' ? 'old' : 'new';
  return `create trigger ${generation}_${table}_${event} after ${event} on ${table}
    referencing ${seen} table as changed for each statement execute function raise_${generation}()`;
}

const raisesWith = (generation: Generation, table: string, columns: string) =>
  `create trigger ${generation}_${table}_update after update of ${columns} on ${table}
    for each row execute function raise_${generation}_once()`;

/** The triggers that raise a number with every change of a table. */
export const everyEvent = (generation: Generation, table: string) =>
  EVENTS.map((event) => raises(generation, table, event));

/**
 * A new scope value raises nothing, because what a node gets changes only with its tag. Assignments raise nothing either,
 * because a poll reads the node's own assignment.
 */
const GENERATION = [
  ...['configurations', 'composites', 'scope_types'].flatMap((table) => everyEvent('generation', table)),
  raises('generation', 'scope_values', 'delete'),
  raises('generation', 'node_tags', 'insert'),
  raisesWith('generation', 'node_tags', 'node_id, scope_type_id, scope_value_id'),
  raises('generation', 'node_tags', 'delete'),
];

const ACCESS = [
  ...['user_roles', 'group_members', 'group_roles', 'role_permissions', 'grants'].flatMap((table) =>
    everyEvent('access_generation', table),
  ),
  raisesWith('access_generation', 'users', 'is_active, require_password_change, account_type, username'),
  raises('access_generation', 'users', 'delete'),
  raises('access_generation', 'sessions', 'delete'),
  raisesWith('access_generation', 'access_tokens', 'revoked_at, expires_at, scopes'),
  raises('access_generation', 'access_tokens', 'delete'),
];

const RUNNING = [
  ...everyEvent('running_generation', 'node_running'),
  raises('running_generation', 'manifests', 'insert'),
  raises('running_generation', 'manifests', 'delete'),
];

/** @param keys is a query for the keys */
const note = (kind: string, keys: string) =>
  `insert into changes (kind, key) select distinct '${kind}', key from (${keys}) as noted (key) order by key;`;

const notes = (table: string, event: Event, kind: string, keys: string) =>
  afterEach(event, table, `changes_${table}_${event}`, note(kind, keys));

const noteWith = (table: string, columns: string) => [
  `create function changes_${table}_update() returns trigger language plpgsql as $$
    begin
      insert into changes (kind, key) values ('scopes', new.id);
      return null;
    end $$`,
  `create trigger changes_${table}_update after update of ${columns} on ${table}
    for each row execute function changes_${table}_update()`,
];

/** A change of a node's assignment names its certificates, because both are read and remembered by thumbprint. */
const certificatesOf = (event: Event) =>
  `select thumbprint from node_certificates
    where node_id in (select node_id from (${differences(event, 'node_id')}) as nodes)`;

/**
 * A process remembers that the evidence of a node's poll is written. That holds no longer once the row says something
 * else than what polls are answered with, so the process is told to read the node anew.
 */
const contradicted = (before: string) =>
  `select thumbprint from node_certificates where state = 'current' and node_id in (
    select node_id from added where checksum is distinct from answered_checksum ${before})`;
const IS_OTHER = `and not exists (
      select from gone where gone.node_id = added.node_id and gone.checksum is not distinct from added.checksum)`;

const CHANGES = [
  // The node's other certificate is noted too, because what is remembered of the current one names the one to come.
  ...notes(
    'node_certificates',
    'insert',
    'certificates',
    `select thumbprint from added union all ${certificatesOf('insert')}`,
  ),
  ...notes(
    'node_certificates',
    'update',
    'certificates',
    'select thumbprint from gone union all select thumbprint from added',
  ),
  ...notes(
    'node_certificates',
    'delete',
    'certificates',
    `select thumbprint from gone union all ${certificatesOf('delete')}`,
  ),
  ...['assignments', 'node_tags'].flatMap((table) =>
    EVENTS.flatMap((event) => notes(table, event, 'certificates', certificatesOf(event))),
  ),
  ...notes('node_running', 'insert', 'certificates', contradicted('')),
  ...notes('node_running', 'update', 'certificates', contradicted(IS_OTHER)),
  ...['configurations', 'composites'].flatMap((table) =>
    EVENTS.flatMap((event) => notes(table, event, table, `select name from ${rowsOf(event)}`)),
  ),
  ...notes('scope_types', 'insert', 'scopes', 'select id from added'),
  ...noteWith('scope_types', 'name, precedence, is_enabled'),
  ...notes('scope_types', 'delete', 'scopes', 'select id from gone'),
  ...noteWith('scope_values', 'value'),
  ...notes('nodes', 'delete', 'nodes', 'select number::text from gone'),
  // Parameters have no row whose change could raise the generation.
  ...afterEach(
    'insert',
    'changes',
    'changes_pruned',
    `if exists (select from added where kind = 'parameters') then
        update generation set value = value + 1 where id = 1;
      end if;
      delete from changes where seq <= (select max(seq) from added) - ${KEPT};`,
  ),
];

export const FEED_TRIGGERS: readonly string[] = [
  ...RAISING,
  ...GENERATION,
  ...ACCESS,
  ...RUNNING,
  ...CHANGES,
];
