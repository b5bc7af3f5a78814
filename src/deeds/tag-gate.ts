/** The gate for tags: a tag may give a node values of parameter files, which who tags must be allowed to read. */

import type { Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { type Assignment, keyOfAssignment } from '../db/node-lookup.ts';
import { keyOfScope } from '../db/scope-grants.ts';
import { forbidden, HawserError } from '../lib/errors.ts';
import { isExpected } from '../security/awaiting-certificates.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { type Content, contentNamed, readableResources, readerOf } from '../security/rights.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import type { AssignmentTools } from './assign.ts';
import { configurationsGiven } from './handing-out.ts';

/** For who may read everything, such as the command that imports a site. */
export const NO_GATE = { require: async () => undefined };

interface GatedTags {
  scopeValueIds: readonly string[];
  nodeIds: readonly string[];
  assignment?: Assignment | null;
}

/** A configuration that has published files behind the tags. */
interface Behind {
  name: string;
  content: Content;
}

export class TagGate {
  private readonly tools: AssignmentTools;
  private readonly principal: UserPrincipal;
  /** The ids of the values that were looked at. */
  private readonly judged: ReadonlySet<string>;
  private readonly behind: readonly Behind[];
  /** The names of the configurations that an assignment gives, by its key; null where that cannot be told. */
  private readonly given = new Map<string, readonly string[] | null>();
  /** What was unreadable in a transaction, as long as no right changes. */
  private known: { trx: Db; generation: number; names: ReadonlySet<string> } | null = null;

  private constructor(
    tools: AssignmentTools,
    principal: UserPrincipal,
    judged: readonly string[],
    behind: readonly Behind[],
  ) {
    this.tools = tools;
    this.principal = principal;
    this.judged = new Set(judged);
    this.behind = behind;
  }

  /**
   * Finds out what the tags may give to these nodes. It reads repositories, so it comes before any transaction. Whether the
   * caller may read that is asked in the transaction.
   * @param assignment what some of the nodes are about to be assigned
   */
  static async of(
    tools: AssignmentTools,
    principal: UserPrincipal,
    { scopeValueIds, nodeIds, assignment = null }: GatedTags,
  ): Promise<TagGate> {
    const gate = new TagGate(
      tools,
      principal,
      scopeValueIds,
      await filesBehind(tools, principal, scopeValueIds),
    );
    if (gate.behind.length === 0) return gate;
    await gate.judge(nodeIds);
    if (assignment !== null) await gate.note(assignment);
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
    const unreadable = await this.unreadable(trx);
    if (unreadable.size > 0 || tags.some(({ id }) => !this.judged.has(id))) throw beyondReadingLeft();
  }

  /**
   * @param assigned what the node is assigned, as the transaction reads it. One that was assigned only meanwhile is refused
   * @param isExpected asks whether its machine has not come yet. Nobody knows what a key or a rule assigns to it then
   * @throws HawserError forbidden `beyond_own_permissions`
   */
  async require(trx: Db, assigned: Assignment, isExpected: () => Promise<boolean>): Promise<void> {
    const unreadable = await this.unreadable(trx);
    if (unreadable.size === 0) return;
    if (assigned.configurationId === null && assigned.compositeId === null) {
      if (await isExpected()) throw beyondReading();
      return;
    }
    const given = this.given.get(keyOfAssignment(assigned)) ?? null;
    if (given === null || given.some((name) => unreadable.has(name))) throw beyondReading();
  }

  /**
   * For nodes that are not there yet, whatever they will be assigned.
   * @throws HawserError forbidden `beyond_own_permissions`
   */
  async requireAll(trx: Db): Promise<void> {
    if ((await this.unreadable(trx)).size > 0) throw beyondReading();
  }

  /** The configurations behind the tags of which the caller may not read all files, as the transaction sees it. */
  private async unreadable(trx: Db): Promise<ReadonlySet<string>> {
    if (this.behind.length === 0) return NONE;
    // Every grant and every mark raises it, also those of this transaction.
    const { value: generation } = await trx
      .selectFrom('access_generation')
      .select('value')
      .where('id', '=', 1)
      .executeTakeFirstOrThrow();
    if (this.known?.trx === trx && this.known.generation === generation) return this.known.names;
    const mayRead = readerOf(await readableResources(trx, this.principal));
    const closed = this.behind.filter(({ content }) => !mayRead(content));
    const names = new Set(closed.map(({ name }) => name));
    this.known = { trx, generation, names };
    return names;
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
    for (const assignment of rows) await this.note(assignment);
  }

  /** What cannot be had may be anything. */
  private async note(assignment: Assignment): Promise<void> {
    const names = configurationsGiven(this.tools.planner, assignment).catch((error) => {
      if (error instanceof HawserError) return null;
      throw error;
    });
    this.given.set(keyOfAssignment(assignment), await names);
  }
}

const NONE: ReadonlySet<string> = new Set();

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

async function filesBehind(
  { database: { read }, store }: AssignmentTools,
  principal: UserPrincipal,
  scopeValueIds: readonly string[],
): Promise<Behind[]> {
  const { configuration, scopes: ofScopes } = await readableResources(read, principal);
  // By overrides, which nothing takes away.
  if (configuration === 'all' && ofScopes === 'all') return [];
  const scopes = await read
    .selectFrom('scope_values')
    .innerJoin('scope_types', 'scope_types.id', 'scope_values.scope_type_id')
    .select(['scope_types.name as scopeType', 'scope_values.value', 'scope_type_id', 'scope_values.id'])
    .where(engineOf(read).isOneOf('scope_values.id', scopeValueIds))
    .execute();
  if (scopes.length === 0) return [];
  const behind: Behind[] = [];
  for (const name of await store.list('parameters')) {
    const index = await store.parameters.index(name);
    const given = scopes.filter((scope) => index.of(seriesOf(scope)).published.length > 0);
    if (given.length === 0) continue;
    const content = await contentNamed(read, { configurations: [name] });
    const [configurationId] = content.configurations;
    const keys = given.map(({ id: scopeValueId, scope_type_id: scopeTypeId }) =>
      keyOfScope({ configurationId: configurationId ?? '', scopeTypeId, scopeValueId }),
    );
    behind.push({ name, content: { ...content, scopes: keys } });
  }
  return behind;
}
