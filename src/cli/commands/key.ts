/** `hawserctl key`: registration keys, with which nodes join. */

import type { Schemas } from '../../client/api-types.ts';
import { command } from '../declaration.ts';
import { Failure } from '../errors.ts';
import { dateTime } from '../formats.ts';
import { eachCommand, type Kind, listCommand } from '../resource.ts';
import { counted, readTime, readWhole } from '../values.ts';

type Key = Schemas['RegistrationKey'];

const KEY: Kind<Key> = {
  word: 'key',
  namesOf: ({ keyPrefix }) => [keyPrefix],
  list: (api) => api.all('/api/v1/admin/registration-keys'),
  columns: [
    { title: 'PREFIX', cell: ({ keyPrefix }) => keyPrefix },
    { title: 'STATE', cell: stateOf },
    { title: 'USES', cell: ({ currentUses, maxUses }) => `${currentUses} of ${maxUses ?? 'any'}` },
    { title: 'EXPIRES', cell: ({ expiresAt }) => dateTime(expiresAt) },
    { title: 'REREGISTERS', cell: ({ allowReregistration }) => allowReregistration },
    { title: 'DESCRIPTION', cell: ({ description }) => description },
    { title: 'ID', cell: ({ id }) => id },
  ],
};

function stateOf({ isRevoked, expiresAt, maxUses, currentUses }: Key): string {
  if (isRevoked) return 'revoked';
  if (Date.parse(expiresAt) <= Date.now()) return 'expired';
  return maxUses !== null && currentUses >= maxUses ? 'used up' : 'valid';
}

const create = command({
  path: 'key create',
  summary: 'make a registration key, which is shown this once',
  description:
    'Makes a registration key, and prints it, this once. With --join it prints the one line of shell that makes a machine a node; whoever has that line has the key.',
  options: {
    join: { summary: 'print the line of shell that joins a machine, instead of the key' },
    description: { value: 'TEXT', summary: 'what it is for' },
    'max-uses': { value: 'N', summary: 'how many nodes it registers; without it any number' },
    expires: { value: 'TIME', summary: 'such as 12h or 2026-12-31; without it in 7 days' },
    'allow-reregistration': { summary: 'let it register a known node anew, with another certificate' },
  },
  examples: [
    'hawserctl key create --max-uses 20 --expires 12h',
    'hawserctl key create --join --max-uses 1 --description "the new web server"',
  ],
  async run({ api, out, options }) {
    const made = await api.post('/api/v1/admin/registration-keys', {
      json: {
        description: options.description,
        maxUses: readWhole(options['max-uses'], '--max-uses'),
        ...(options.expires !== undefined && { expiresAt: readTime(options.expires, '--expires', 1) }),
        allowReregistration: options['allow-reregistration'],
      },
    });
    const { id, key, joinCommand } = made;
    if (options.join && joinCommand === undefined) {
      // What nobody has been shown must not stay valid.
      await api.delete('/api/v1/admin/registration-keys/{keyId}', { path: { keyId: id } });
      throw new Failure(
        'The server cannot tell the line: HAWSER_PUBLIC_URL is not set there. The key was revoked again; without --join the key itself is printed.',
      );
    }
    out.answer(made, () => {
      const uses = made.maxUses === null ? 'any number of nodes' : counted(made.maxUses, 'node');
      out.note(`It registers ${uses} until ${dateTime(made.expiresAt)}, and is shown this once:`);
      out.text((options.join ? joinCommand : key) ?? '');
    });
  },
});

export const KEY_COMMANDS = [
  create,
  listCommand(KEY, '--filter isRevoked=false'),
  eachCommand(KEY, {
    verb: 'revoke',
    done: 'Revoked',
    summary: 'revoke registration keys; nodes that they have registered stay',
    example: 'hwk_4fQ2',
    run: (api, keyId) => api.delete('/api/v1/admin/registration-keys/{keyId}', { path: { keyId } }),
  }),
];
