/** `hawserctl param grants` and `grant`: who may do what with a configuration's parameters, of all scopes or of one. */

import type { Api } from '../../client/api.ts';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID } from '../../domain/scopes.ts';
import { command } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import { findScopeType, findScopeValue, splitScope } from '../scopes.ts';
import { idOf, LEVELS } from './grants.ts';
import { findNode } from './node-choice.ts';
import { CONFIGURATION_ARGUMENT } from './param-files.ts';

const PATH = '/api/v1/configurations/{name}/parameters/permissions';

export const grants = command({
  path: 'param grants',
  summary: "list who holds which level on a configuration's parameters",
  arguments: [CONFIGURATION_ARGUMENT],
  examples: ['hawserctl param grants web'],
  async run({ api, out, arguments: { name } }) {
    const found = await api.all(PATH, { path: { name } });
    out.answer(found, () =>
      out.table(
        found,
        [
          { title: 'NAME', cell: ({ principalName }) => principalName },
          { title: 'KIND', cell: ({ principalType }) => principalType.toLowerCase() },
          { title: 'LEVEL', cell: ({ level }) => level },
          { title: 'SCOPE', cell: ({ scopeTypeName, scopeValue }) => scopeOf(scopeTypeName, scopeValue) },
          { title: 'RESTRICTED', cell: ({ restricted }) => (restricted ? 'yes' : '') },
          { title: 'SINCE', cell: ({ grantedAt }) => dateTime(grantedAt) },
        ],
        `Nobody holds a grant on the parameters of ${name}, so they follow those on ${name} itself.`,
      ),
    );
  },
});

function scopeOf(type: string | null, value: string | null): string {
  if (type === null) return 'all';
  return value === null ? type : `${type}/${value}`;
}

export const grant = command({
  path: 'param grant',
  summary: "give a user or a group a level on a configuration's parameters, or take it away",
  description:
    'Without --scope the level is for the parameters of all scopes but the restricted ones. Only holders of a grant on a ' +
    'restricted scope reach its parameters, until somebody says --open.',
  arguments: [
    CONFIGURATION_ARGUMENT,
    { name: 'principal', summary: 'the user, by name or id; with --group, the group' },
    {
      name: 'level',
      summary: 'each has what those before it have; None takes the grant away',
      choices: LEVELS,
    },
  ],
  options: {
    group: { summary: 'the name is that of a group' },
    scope: { value: 'SCOPE', summary: 'Default, TYPE/VALUE, Node/FQDN, or a TYPE for all its values' },
    restricted: { summary: 'restrict the scope to who holds a grant on it' },
    open: { summary: 'end that' },
  },
  examples: [
    'hawserctl param grant web alice Modify --scope Environment/dev',
    'hawserctl param grant web keepers Manage --group --scope Environment/prod --restricted',
  ],
  async run({ api, out, arguments: given, options }) {
    const { name, principal } = given;
    const level = given.level as (typeof LEVELS)[number];
    if (options.restricted && options.open) throw new UsageError('Say --restricted or --open, not both.');
    const mark = options.restricted || options.open ? { restricted: options.restricted === true } : {};
    if ('restricted' in mark && (level === 'None' || options.scope === undefined))
      throw new UsageError('--restricted and --open go with a level and a --scope.');
    const principalType = options.group ? 'Group' : 'User';
    const principalId = await idOf(api, principal, principalType);
    const scope = options.scope === undefined ? {} : await idsOf(api, options.scope);
    if (level === 'None')
      await api.delete(`${PATH}/{principalType}/{principalId}`, {
        path: { name, principalType, principalId },
        query: scope,
      });
    else
      await api.put(PATH, { path: { name }, json: { principalType, principalId, level, ...scope, ...mark } });
    const on = `the parameters of ${options.scope ?? 'all scopes'} of ${name}`;
    out.answer({ name, principalType, principalId, level, ...scope, ...mark }, () =>
      out.text(
        level === 'None'
          ? `${principal} holds no grant on ${on} any more.`
          : `${principal} holds ${level} on ${on} now.`,
      ),
    );
  },
});

/** The ids of a scope as it is written. A type alone is all its values. @throws UsageError, Failure */
async function idsOf(api: Api, text: string): Promise<{ scopeTypeId: string; scopeValueId?: string }> {
  const [typeName, value] = splitScope(text, '--scope');
  const { id: scopeTypeId } = await findScopeType(api, typeName);
  if (value === null) return { scopeTypeId };
  if (scopeTypeId === DEFAULT_SCOPE_TYPE_ID)
    throw new UsageError(`--scope ${text}: Default has no values, so say Default alone.`);
  if (scopeTypeId === NODE_SCOPE_TYPE_ID)
    return { scopeTypeId, scopeValueId: (await findNode(api, value)).id };
  return { scopeTypeId, scopeValueId: (await findScopeValue(api, text, '--scope')).id };
}
