/** The gate for tags: a tag may give a node values of parameter files, which who tags must be allowed to read. */

import type { Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { type Assignment, keyOfAssignment } from '../db/node-lookup.ts';
import { forbidden, HawserError } from '../lib/errors.ts';
import { isExpected } from '../security/awaiting-certificates.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { readableResources } from '../security/rights.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import { type AssignmentTools, configurationsGiven } from './assign.ts';
import { mayReadConfigurations } from './handing-out.ts';

/** For who may read everything, such as the command that imports a site. */
export const NO_GATE = { require: async () => undefined };

interface GatedTags {
  scopeValueIds: readonly string[];
  nodeIds: readonly string[];
  assignment?: Assignment | null;
}

export class TagGate {
  private readonly tools: AssignmentTools;
  /** The ids of the values that were looked at. */
  private readonly judged: ReadonlySet<string>;
  /** The configurations that have a file behind the tag which the caller may not read. */
  private readonly unreadable: ReadonlySet<string>;
  /** Whether nodes of an assignment are refused, by its key. */
  private readonly isRefused = new Map<string, boolean>();

  private constructor(tools: AssignmentTools, judged: readonly string[], unreadable: ReadonlySet<string>) {
    this.tools = tools;
    this.judged = new Set(judged);
    this.unreadable = unreadable;
  }

  /**
   * Finds out what the tags may give to these nodes. It reads repositories, so it comes before any transaction.
   * @param assignment what some of the nodes are about to be assigned
   */
  static async of(
    tools: AssignmentTools,
    principal: UserPrincipal,
    { scopeValueIds, nodeIds, assignment = null }: GatedTags,
  ): Promise<TagGate> {
    const unreadable = await unreadableBehind(tools, principal, scopeValueIds);
    const gate = new TagGate(tools, scopeValueIds, new Set(unreadable));
    if (gate.unreadable.size === 0) return gate;
    await gate.judge(nodeIds);
    if (assignment !== null) gate.isRefused.set(keyOfAssignment(assignment), await gate.gives(assignment));
    return gate;
  }

  /** For the tags that those of these nodes have already whose machines have not come yet. */
  static async ofExpected(
    tools: AssignmentTools,
    principal: UserPrincipal,
    nodeIds: readonly string[],
  ): Promise<TagGate> {
    const { read } = tools.database;
    const tags = await read
      .selectFrom('node_tags')
      .innerJoin('nodes', 'nodes.id', 'node_tags.node_id')
      .select('node_tags.scope_value_id as id')
      .distinct()
      .where('nodes.is_awaiting', '=', 1)
      .where(engineOf(read).isOneOf('node_tags.node_id', nodeIds))
      .execute();
    return TagGate.of(tools, principal, { scopeValueIds: tags.map(({ id }) => id), nodeIds: [] });
  }

  /**
   * For a node that is expected and from which its assignment is taken, so that a key or a rule may assign another.
   * @throws HawserError forbidden `beyond_own_permissions`
   */
  async requireLeft(trx: Db, nodeId: string): Promise<void> {
    if (!(await isExpected(trx, nodeId))) return;
    const tags = await trx
      .selectFrom('node_tags')
      .select('scope_value_id as id')
      .where('node_id', '=', nodeId)
      .execute();
    if (tags.length === 0) return;
    if (this.unreadable.size > 0 || tags.some(({ id }) => !this.judged.has(id))) throw beyondReadingLeft();
  }

  /**
   * @param assigned what the node is assigned, as the transaction reads it. One that was assigned only meanwhile is refused
   * @param isExpected asks whether its machine has not come yet. Nobody knows what a key or a rule assigns to it then
   * @throws HawserError forbidden `beyond_own_permissions`
   */
  async require(assigned: Assignment, isExpected: () => Promise<boolean>): Promise<void> {
    if (this.unreadable.size === 0) return;
    if (assigned.configurationId === null && assigned.compositeId === null) {
      if (await isExpected()) throw beyondReading();
      return;
    }
    if (this.isRefused.get(keyOfAssignment(assigned)) !== false) throw beyondReading();
  }

  /**
   * For nodes that are not there yet, whatever they will be assigned.
   * @throws HawserError forbidden `beyond_own_permissions`
   */
  requireAll(): void {
    if (this.unreadable.size > 0) throw beyondReading();
  }

  private async judge(nodeIds: readonly string[]): Promise<void> {
    const { read } = this.tools.database;
    const rows = await read
      .selectFrom('assignments')
      .select([
        'configuration_id as configurationId',
        'composite_id as compositeId',
        'major_version as majorVersion',
        'prerelease_channel as prereleaseChannel',
        'version',
      ])
      .distinct()
      .where(engineOf(read).isOneOf('node_id', nodeIds))
      .execute();
    for (const assignment of rows)
      this.isRefused.set(keyOfAssignment(assignment), await this.gives(assignment));
  }

  /** Whether the assignment gives something of which the files may not be read. What cannot be had may be anything. */
  private async gives(assignment: Assignment): Promise<boolean> {
    try {
      const names = await configurationsGiven(this.tools.planner, assignment);
      return names.some((name) => this.unreadable.has(name));
    } catch (error) {
      if (error instanceof HawserError) return true;
      throw error;
    }
  }
}

const beyondReadingLeft = () =>
  forbidden(
    'The node is expected, and a tag of it may give it values of a parameter file that you may not read. Take its tags away first',
    'beyond_own_permissions',
  );

const beyondReading = () =>
  forbidden(
    'The tag gives the node values of a parameter file that you may not read',
    'beyond_own_permissions',
  );

async function unreadableBehind(
  { database: { read }, store }: AssignmentTools,
  principal: UserPrincipal,
  scopeValueIds: readonly string[],
): Promise<string[]> {
  const { configuration, parameters } = await readableResources(read, principal);
  if (configuration === 'all' && parameters === 'all') return [];
  const scopes = await read
    .selectFrom('scope_values')
    .innerJoin('scope_types', 'scope_types.id', 'scope_values.scope_type_id')
    .select(['scope_types.name as scopeType', 'scope_values.value'])
    .where(engineOf(read).isOneOf('scope_values.id', scopeValueIds))
    .execute();
  if (scopes.length === 0) return [];
  const unreadable: string[] = [];
  for (const name of await store.list('parameters')) {
    const index = await store.parameters.index(name);
    const hasFile = scopes.some((scope) => index.of(seriesOf(scope)).published.length > 0);
    if (hasFile && !(await mayReadConfigurations(read, principal, [name]))) unreadable.push(name);
  }
  return unreadable;
}
