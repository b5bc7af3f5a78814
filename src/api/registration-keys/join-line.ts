/** POST `/api/v1/admin/registration-keys/{keyId}/join-line`: the one line that joins a machine, for whoever has the key. */

import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { findKeyBySecret, REGISTRATION_KEYS } from '../../db/registration-keys.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { invalidField } from '../../lib/errors.ts';
import { operation, permitted } from '../shared/routes.ts';
import type { Joining } from './joining.ts';

/** The agent that each shell sets up. */
const AGENTS = { sh: 'hawser', powershell: 'opendsc' } as const;

const NewJoinLine = z
  .strictObject({
    key: z.string().describe('The registration key itself, as the answer to its creation showed it'),
    shell: z
      .enum(['sh', 'powershell'])
      .describe('`sh`: any POSIX shell; `powershell`: 5.1 and 7, on Windows'),
    agent: z.enum(['hawser', 'opendsc']).describe('`hawser` with `sh`, `opendsc` with `powershell`'),
  })
  .refine(({ shell, agent }) => AGENTS[shell] === agent, {
    path: ['agent'],
    message: 'sh sets up hawser, and powershell opendsc; there are no other pairs',
  })
  .meta({
    id: 'NewJoinLine',
    examples: [
      { key: 'reg_Yl0sT4mWq7ZkPz2vH8nRc5dXbA1eFgJ3uTiOoLyQm6s', shell: 'powershell', agent: 'opendsc' },
    ],
  });

export const JoinLine = z
  .object({
    line: z.string().describe('One line to paste. Whoever has it has the key'),
    script: z.string().describe('The same as a file, with comments'),
  })
  .meta({
    id: 'JoinLine',
    examples: [
      {
        line: "HAWSER_AGENT_REGISTRATION_KEY='reg_...' node -e '...'",
        script: '#!/bin/sh\n# Makes this ...\n',
      },
    ],
  });

export function joinLineRoute(database: Database, joining: Joining): Route {
  const keys = permitted(database, ['Registration keys'], 'registration-keys.manage');
  return keys.update('/api/v1/admin/registration-keys/{keyId}/join-line', {
    ...operation('makeJoinLine', 'Make the line that joins a machine'),
    method: 'POST',
    description:
      'The line trusts the authority of this server by its SHA-256. It names `HAWSER_PUBLIC_URL`, or the address of this ' +
      'request where that is not set, and says so then. Nothing is stored: the key is asked for because the server keeps ' +
      'its hash alone. The agent of OpenDSC checks no signatures, so a key with `signers` has no line for it.',
    params: idsInPath('keyId'),
    body: { kind: 'json', schema: NewJoinLine },
    answer: { description: 'The line and the script', schema: JoinLine },
    problems: ['no_join_line'],
    async handle({ params, body, facts }) {
      const row = await REGISTRATION_KEYS.require(database.read, params.keyId);
      const found = await findKeyBySecret(database.read, body.key);
      if (found?.id !== row.id)
        throw invalidField(
          '/key',
          'This is not the key of this id. Send the key that its creation answered, or make a new key.',
        );
      return joining.lineFor(body.key, body.shell, facts.header('host') ?? '', row.signers);
    },
  });
}
