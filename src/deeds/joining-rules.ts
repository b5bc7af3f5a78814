/**
 * The rules that give something to nodes when they register. From the first to the last each rule whose pattern fits the name
 * adds tags of types that have none yet, and the first assignment counts. What a rule names and is gone is left out.
 */

import type { Database, Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { JOINING_RULES, type JoiningRule, readStoredRules } from '../db/joining-rules.ts';
import { type Assignment, keyOfAssignment } from '../db/node-lookup.ts';
import { matchesName } from '../domain/name-patterns.ts';
import { normalizeHostName } from '../domain/names.ts';
import { type FieldError, HawserError, isRefusal } from '../lib/errors.ts';
import { Pace } from '../lib/pace.ts';
import type { Actor } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import type { AssignmentTools, CheckedAssignment } from './assign.ts';
import { saveSettings } from './change-settings.ts';
import { checkGiven, type GivenNode, NOTHING_GIVEN, toStored, type WantedNode } from './given-nodes.ts';
import { TagGate } from './tag-gate.ts';

/** So many patterns the audit trail names of a change. */
const MOST_NAMED = 20;

export interface WantedRule extends WantedNode {
  /** The names that the rule is for, as `normalizeNamePattern` gives the pattern. */
  fqdnPattern: string;
}

/** The rules with what is there of what they name. */
export class JoiningRules {
  private readonly planner: AssignmentTools['planner'];
  /** Without what is gone, but with assignments of which no version fits. */
  readonly list: readonly JoiningRule[];
  private readonly typeOfValue: ReadonlyMap<string, string>;
  /** For each assignment that was looked at, by its key: whether it gives a node anything. */
  private readonly isEligible = new Map<string, boolean>();

  private constructor(
    planner: AssignmentTools['planner'],
    list: readonly JoiningRule[],
    typeOfValue: ReadonlyMap<string, string>,
  ) {
    this.planner = planner;
    this.list = list;
    this.typeOfValue = typeOfValue;
  }

  /** @param stored those of the rules that matter */
  static async of(
    { database: { read }, planner }: { database: Pick<Database, 'read'> } & Pick<AssignmentTools, 'planner'>,
    stored: readonly JoiningRule[],
  ): Promise<JoiningRules> {
    if (stored.length === 0) return new JoiningRules(planner, [], new Map());
    const typeOfValue = await typesOf(read, new Set(stored.flatMap(({ scopeValueIds }) => scopeValueIds)));
    const assigned = stored.flatMap(
      ({ assignment }) => assignment?.configurationId ?? assignment?.compositeId ?? [],
    );
    const resources = await existingOf(read, new Set(assigned));
    const list = stored.map(({ fqdnPattern, scopeValueIds, assignment }) => ({
      fqdnPattern,
      scopeValueIds: scopeValueIds.filter((id) => typeOfValue.has(id)),
      assignment: resources.has(assignment?.configurationId ?? assignment?.compositeId ?? '')
        ? assignment
        : null,
    }));
    return new JoiningRules(planner, list, typeOfValue);
  }

  /** What the rules alone make of a node of this name. It reads repositories, so it comes before any transaction. */
  async forName(fqdn: string): Promise<GivenNode> {
    const values = new Map<string, string>();
    let assignment: CheckedAssignment | null = null;
    for (const rule of this.list) {
      if (!matchesName(rule.fqdnPattern, fqdn)) continue;
      for (const id of rule.scopeValueIds) {
        const type = this.typeOfValue.get(id) ?? '';
        if (!values.has(type)) values.set(type, id);
      }
      assignment ??= await this.eligible(rule);
    }
    return { assignment, values };
  }

  /** The assignment of a rule; null where it would give a node nothing. */
  private async eligible({ assignment: stored }: JoiningRule): Promise<CheckedAssignment | null> {
    if (stored === null) return null;
    const { configurationName: name, ...assignment } = stored;
    const key = keyOfAssignment(assignment);
    const isEligible = this.isEligible.get(key) ?? (await gives(this.planner, assignment));
    this.isEligible.set(key, isEligible);
    if (!isEligible) return null;
    const { configurationId, compositeId } = assignment;
    const kind = compositeId === null ? 'configurations' : 'composites';
    // Whoever made the rule was allowed to read it.
    const owner = { kind, resource: { id: configurationId ?? compositeId ?? '', name } } as const;
    return { owner, assignment, isReadable: true };
  }
}

/** Whether an assignment gives a node anything. One of what was deleted just now gives nothing. */
async function gives(planner: AssignmentTools['planner'], assignment: Assignment): Promise<boolean> {
  try {
    return await planner.isEligible(assignment);
  } catch (error) {
    if (error instanceof HawserError && error.kind === 'not_found') return false;
    throw error;
  }
}

/** The rules as they are shown. */
export async function listRules(tools: Pick<AssignmentTools, 'database' | 'planner'>) {
  const { rules } = await readStoredRules(tools.database.read);
  return (await JoiningRules.of(tools, rules)).list;
}

/** What the rules make of each of these names, in their order; of what is no name of a host, nothing. */
export async function checkNames(
  tools: Pick<AssignmentTools, 'database' | 'planner'>,
  fqdns: readonly string[],
): Promise<{ fqdn: string; given: GivenNode }[]> {
  const { rules } = await readStoredRules(tools.database.read);
  const joining = await JoiningRules.of(tools, rules);
  const pace = new Pace();
  const checked: { fqdn: string; given: GivenNode }[] = [];
  for (const fqdn of fqdns) {
    const name = normalizeHostName(fqdn);
    checked.push({ fqdn, given: name === null ? NOTHING_GIVEN : await joining.forName(name) });
    if (pace.isDue) await pace.rest();
  }
  return checked;
}

/**
 * Replaces all rules. Only rules that are new need what their members need.
 * @returns the rules as they are then
 * @throws HawserError what `checkGiven` throws; forbidden `beyond_own_permissions` for a tag behind which there is a parameter
 *   file that the caller may not read, and for an assignment with such a file, because nobody knows what the nodes to come are
 *   assigned and tagged with
 */
export async function setRules(tools: AssignmentTools, caller: Caller, wanted: readonly WantedRule[]) {
  const { database } = tools;
  for (;;) {
    const before = await readStoredRules(database.read);
    const known = new Map(
      (await JoiningRules.of(tools, before.rules)).list.map((rule) => [keyOf(rule), rule]),
    );
    const { rules, gate, given } = await checkRules(tools, caller, wanted, known);
    await caller.requireCurrent?.();
    const isSaved = await database.write.transaction().execute(async (trx) => {
      const now = await readStoredRules(trx);
      // What was known a moment ago may have been taken away, and then is new.
      if (now.text !== before.text) return false;
      await gate.requireAll(trx);
      // Other rules, and keys, may tag the node with anything.
      for (const { assignment } of given) await assignment?.files?.require(trx, 'any');
      await saveRules(trx, caller.actor, before.rules, rules);
      return true;
    });
    if (isSaved) return rules;
  }
}

async function checkRules(
  tools: AssignmentTools,
  { principal }: Caller,
  wanted: readonly WantedRule[],
  known: ReadonlyMap<string, JoiningRule>,
): Promise<{ rules: JoiningRule[]; gate: TagGate; given: readonly GivenNode[] }> {
  const pace = new Pace();
  const rules: JoiningRule[] = [];
  const news: GivenNode[] = [];
  const added = new Set<string>();
  for (const [at, rule] of wanted.entries()) {
    const same = known.get(keyOf(rule));
    if (same === undefined) {
      const given = await checkGiven(tools, principal, rule).catch((error) => {
        throw aboutRule(error, at, rule);
      });
      news.push(given);
      for (const id of given.values.values()) added.add(id);
      rules.push({ fqdnPattern: rule.fqdnPattern, ...toStored(given) });
    } else rules.push(same);
    if (pace.isDue) await pace.rest();
  }
  const gate = await TagGate.of(tools, principal, { scopeValueIds: [...added], nodeIds: [] });
  await gate.requireAll(tools.database.read);
  return { rules, gate, given: news };
}

/** The error with the place of the rule that it is about, because others may be right. */
function aboutRule(error: unknown, at: number, { fqdnPattern }: WantedRule): unknown {
  if (!isRefusal(error)) return error;
  const { kind, data, message } = error;
  const errors = data['errors'] as FieldError[] | undefined;
  const placed = errors?.map((fault) => ({ ...fault, path: `/${at}${fault.path}` }));
  return new HawserError(kind, error.code, `Rule ${at + 1}, for ${fqdnPattern}: ${message}`, {
    data: { ...data, ...(placed && { errors: placed }) },
    cause: error,
  });
}

/** Equal for rules that do the same. */
function keyOf({ fqdnPattern, scopeValueIds, assignment }: WantedRule | JoiningRule): string {
  const {
    configurationName,
    majorVersion = null,
    prereleaseChannel = null,
    version = null,
  } = assignment ?? {};
  const isComposite =
    assignment !== null &&
    ('compositeId' in assignment ? assignment.compositeId !== null : (assignment.isComposite ?? false));
  const given = [configurationName, isComposite, majorVersion, prereleaseChannel, version];
  return JSON.stringify([fqdnPattern, [...new Set(scopeValueIds)].sort(), given]);
}

async function saveRules(
  trx: Db,
  actor: Actor,
  before: readonly JoiningRule[],
  rules: readonly JoiningRule[],
): Promise<void> {
  if (JSON.stringify(before) === JSON.stringify(rules)) return;
  const [old, now] = [new Set(before.map(keyOf)), new Set(rules.map(keyOf))];
  const named = (of: readonly JoiningRule[], without: ReadonlySet<string>) =>
    of
      .filter((rule) => !without.has(keyOf(rule)))
      .slice(0, MOST_NAMED)
      .map(({ fqdnPattern }) => fqdnPattern);
  const changes = {
    rules: { from: before.length, to: rules.length },
    added: named(rules, old),
    removed: named(before, now),
  };
  await saveSettings(trx, actor, 'joining-rules', { [JOINING_RULES]: rules }, changes);
}

async function typesOf(db: Db, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('scope_values')
    .select(['id', 'scope_type_id'])
    .where(engineOf(db).isOneOf('id', [...ids]))
    .execute();
  return new Map(rows.map(({ id, scope_type_id }) => [id, scope_type_id]));
}

/** Those of these ids that a configuration or a composite has. */
async function existingOf(db: Db, ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const isOneOf = engineOf(db).isOneOf('id', [...ids]);
  const rows = await db
    .selectFrom('configurations')
    .select('id')
    .where(isOneOf)
    .unionAll(db.selectFrom('composites').select('id').where(isOneOf))
    .execute();
  return new Set(rows.map(({ id }) => id));
}
