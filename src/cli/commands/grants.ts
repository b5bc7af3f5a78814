/** `hawserctl config grants` and `grant`, and those of composites: who may do what with one of them. */

import { type Command, type Context, command } from '../declaration.ts';
import { dateTime } from '../formats.ts';
import { findNamed, isId } from '../names.ts';
import type { Kind } from './config-kinds.ts';
import { GROUP } from './group.ts';
import { USER } from './user.ts';

/** None takes a grant away. */
export const LEVELS = ['Read', 'Modify', 'Manage', 'None'] as const;

type Level = (typeof LEVELS)[number];

export function grantCommands(kind: Kind): Command[] {
  return [grantsCommand(kind), grantCommand(kind)];
}

function grantsCommand(kind: Kind): Command {
  return command({
    path: `${kind.group} grants`,
    summary: `list who holds which level on a ${kind.noun}`,
    arguments: [{ name: 'name', summary: `the ${kind.noun}` }],
    examples: [`hawserctl ${kind.group} grants web`],
    async run({ api, out, arguments: { name } }) {
      const grants = await api.all(`${kind.base}/{name}/permissions` as const, { path: { name } });
      out.answer(grants, () =>
        out.table(
          grants,
          [
            { title: 'NAME', cell: ({ principalName }) => principalName },
            { title: 'KIND', cell: ({ principalType }) => principalType.toLowerCase() },
            { title: 'LEVEL', cell: ({ level }) => level },
            { title: 'SINCE', cell: ({ grantedAt }) => dateTime(grantedAt) },
          ],
          `Nobody holds a grant on ${name}. Permissions that reach all of them are not listed here.`,
        ),
      );
    },
  });
}

function grantCommand(kind: Kind): Command {
  return command({
    path: `${kind.group} grant`,
    summary: `give a user or a group a level on a ${kind.noun}, or take it away`,
    arguments: [
      { name: 'name', summary: `the ${kind.noun}` },
      { name: 'principal', summary: 'the user, by name or id; with --group, the group' },
      {
        name: 'level',
        summary: 'each has what those before it have; None takes the grant away',
        choices: LEVELS,
      },
    ],
    options: { group: { summary: 'the name is that of a group' } },
    examples: [
      `hawserctl ${kind.group} grant web alice Modify`,
      `hawserctl ${kind.group} grant web operators Read --group`,
    ],
    async run({ api, out, arguments: given, options }) {
      const { name, principal } = given;
      const level = given.level as Level;
      const principalType = options.group ? 'Group' : 'User';
      const principalId = await idOf(api, principal, principalType);
      if (level === 'None')
        await api.delete(`${kind.base}/{name}/permissions/{principalType}/{principalId}` as const, {
          path: { name, principalType, principalId },
        });
      else
        await api.put(`${kind.base}/{name}/permissions` as const, {
          path: { name },
          json: { principalType, principalId, level },
        });
      out.answer({ name, principalType, principalId, level }, () =>
        out.text(
          level === 'None'
            ? `${principal} holds no grant on ${name} any more.`
            : `${principal} holds ${level} on ${name} now.`,
        ),
      );
    },
  });
}

export async function idOf(api: Context['api'], principal: string, type: 'User' | 'Group'): Promise<string> {
  if (isId(principal)) return principal.toLowerCase();
  return type === 'Group'
    ? findNamed(await GROUP.list(api), principal, GROUP.word, GROUP.namesOf).id
    : findNamed(await USER.list(api), principal, USER.word, USER.namesOf).id;
}
