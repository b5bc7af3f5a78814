/** `/api/v1/settings/joining-rules`: what nodes get when they register, by their names. */

import { z } from 'zod';
import type { JoiningRule } from '../../db/joining-rules.ts';
import type { StoredGift } from '../../db/registration-keys.ts';
import { type AssignmentTools, assignmentByName } from '../../deeds/assign.ts';
import { toStored } from '../../deeds/given-nodes.ts';
import { checkNames, listRules, setRules } from '../../deeds/joining-rules.ts';
import { NOT_FOUND, READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { Id } from '../../http/schemas.ts';
import { GIVEN, GIVEN_EXAMPLE, GivenAssignment, NamePattern, PATTERN_RULE } from '../shared/given-schemas.ts';
import { operation, type PermittedRoutes } from '../shared/routes.ts';

const MAX_RULES = 1_000;
const MAX_NAMES = 1_000;

const EXAMPLE = { fqdnPattern: 'web-*.example.com', ...GIVEN_EXAMPLE };

const given = { scopeValueIds: z.array(Id), assignment: GivenAssignment.nullable() };

const Rule = z.object({ fqdnPattern: z.string(), ...given }).meta({ id: 'JoiningRule', examples: [EXAMPLE] });

const NewRule = z
  .strictObject({
    fqdnPattern: NamePattern.meta({ description: `The pattern is ${PATTERN_RULE}` }),
    ...GIVEN,
  })
  .meta({ id: 'NewJoiningRule', examples: [EXAMPLE] });

const NewRules = z.array(NewRule).max(MAX_RULES);

const NamesToCheck = z
  .strictObject({ fqdns: z.array(z.string().min(1).max(254)).max(MAX_NAMES) })
  .meta({ id: 'JoiningRulesCheck', examples: [{ fqdns: ['web-01.example.com'] }] });

const Checked = z
  .object({ fqdn: z.string().meta({ description: 'As it was asked' }), ...given })
  .meta({ id: 'JoiningRulesChecked', examples: [{ fqdn: 'web-01.example.com', ...GIVEN_EXAMPLE }] });

const PATH = '/api/v1/settings/joining-rules';

/** @param routes who may read the settings of the server, and who may change them */
export function joiningRuleRoutes(
  tools: AssignmentTools,
  { reading, writing }: Record<'reading' | 'writing', PermittedRoutes>,
): Route[] {
  return [
    reading.get(PATH, {
      ...operation('getJoiningRules', 'Read what nodes get when they register, by their names'),
      description:
        'From the first to the last each rule whose pattern fits the name adds tags of scope types that have none yet, and ' +
        'the first assignment counts. What the node has already, and the profile of its key, go before all rules. What a ' +
        'rule names and is gone is left out.',
      answer: { description: 'All rules, first to last', schema: z.array(Rule) },
      handle: async () => (await listRules(tools)).map(toRule),
    }),
    writing.update(PATH, {
      ...operation('setJoiningRules', 'Replace all rules for nodes that register'),
      description:
        'Rules that are new need what their members need: `nodes.assign-configuration` and Read on all that they assign, ' +
        '`nodes.write` for tags, and Read on each parameter file behind these tags. Nodes that are registered stay as they are.',
      body: { kind: 'json', schema: NewRules },
      answer: { description: 'All rules as they are now', schema: z.array(Rule) },
      problems: ['beyond_own_permissions', NOT_FOUND, [409, 'no_eligible_version'], ...READING_REPOSITORIES],
      handle: async ({ caller, body }) => (await setRules(tools, caller, body)).map(toRule),
    }),
    reading.update(`${PATH}/check`, {
      ...operation('checkJoiningRules', 'See what the rules alone would make of nodes of these names'),
      method: 'POST',
      description: 'Nothing is made or changed.',
      body: { kind: 'json', schema: NamesToCheck },
      answer: { description: 'One item for each name, in their order', schema: z.array(Checked) },
      problems: READING_REPOSITORIES,
      handle: async ({ body }) =>
        (await checkNames(tools, body.fqdns)).map(({ fqdn, given }) => ({ fqdn, ...shown(toStored(given)) })),
    }),
  ];
}

function toRule({ fqdnPattern, ...gift }: JoiningRule) {
  return { fqdnPattern, ...shown(gift) };
}

function shown({ scopeValueIds, assignment }: StoredGift) {
  return { scopeValueIds, assignment: assignment && assignmentByName(assignment) };
}
