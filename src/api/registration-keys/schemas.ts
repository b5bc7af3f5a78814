/** Shapes of registration keys. */

import { z } from 'zod';
import type { WantedKey } from '../../deeds/registration-keys.ts';
import { Description, descriptionChange, Id, Instant, Timestamp } from '../../http/schemas.ts';
import { GIVEN, GIVEN_EXAMPLE, GivenAssignment, NamePattern, PATTERN_RULE } from '../shared/given-schemas.ts';

const PROFILE = { ...GIVEN_EXAMPLE, fqdnPattern: 'web-*.example.com' };

const Profile = z.strictObject({
  ...GIVEN,
  fqdnPattern: NamePattern.nullish()
    .transform((pattern) => pattern ?? null)
    .meta({ description: `Which names may register by the key: ${PATTERN_RULE}; absent or null: any` }),
});

export const NewRegistrationKey = z
  .strictObject({
    description: Description,
    expiresAt: Instant.nullish().describe('Absent or null: in 7 days'),
    maxUses: z.int().min(1).nullish().describe('Absent or null: any number'),
    allowReregistration: z
      .boolean()
      .nullish()
      .transform((allowed) => allowed ?? false),
    profile: Profile.nullish().meta({
      description:
        'What nodes get that register by the key. It needs what assigning and tagging need, and the key is refused once its ' +
        'maker lacks that, or once something of it is gone',
    }),
    signers: z
      .string()
      .nullish()
      .describe(
        "Who may sign what the agent runs, as OpenSSH's `allowed_signers`: up to 1,000 lines and 64 KiB. The join line writes " +
          'it to the machine, and nothing that the server says later changes it there. Absent, null or empty: the agent asks for no signature',
      ),
  })
  .meta({
    id: 'NewRegistrationKey',
    examples: [{ description: 'Rack 12', expiresAt: '2026-12-01T00:00:00Z', maxUses: 40, profile: PROFILE }],
  }) satisfies z.ZodType<WantedKey>;

export type NewRegistrationKey = z.output<typeof NewRegistrationKey>;

export const RegistrationKeyChange = descriptionChange('RegistrationKeyChange', 'Racks 12 and 13');

export const RegistrationKey = z
  .object({
    id: Id,
    key: z.string().nullable().describe('In the answer to its creation alone, null ever after'),
    joinCommand: z
      .string()
      .optional()
      .describe(
        'In the answer to its creation alone, where `HAWSER_PUBLIC_URL` is set: one line for a POSIX shell, with the key ' +
          'in it, that gets the agent and registers the machine',
      ),
    keyPrefix: z.string().describe('Enough to tell keys apart'),
    description: z.string().nullable(),
    expiresAt: Timestamp,
    createdAt: Timestamp,
    maxUses: z.int().nullable(),
    currentUses: z.int().describe('Registrations with it; repeated ones of a known certificate do not count'),
    isRevoked: z.boolean(),
    allowReregistration: z.boolean().describe('Whether a known fqdn may come with another certificate'),
    profile: z
      .object({
        assignment: GivenAssignment.nullable(),
        scopeValueIds: z.array(Id),
        fqdnPattern: z.string().nullable(),
      })
      .nullable()
      .describe('What nodes get that register by the key'),
    lastUsedAt: Timestamp.nullable().describe('When a use was counted last'),
    nodes: z.int().describe('How many nodes have registered by it last, and are left'),
    signers: z.string().nullable().describe('Who may sign what the agent runs that its join line sets up'),
  })
  .meta({
    id: 'RegistrationKey',
    examples: [
      {
        id: 'e7d6c5b4-a392-4817-8605-f4e3d2c1b0a9',
        key: null,
        keyPrefix: 'reg_Yl0sT4mW',
        description: 'Rack 12',
        expiresAt: '2026-12-01T00:00:00.000Z',
        createdAt: '2026-11-20T09:08:00.000Z',
        maxUses: 40,
        currentUses: 3,
        isRevoked: false,
        allowReregistration: false,
        profile: PROFILE,
        lastUsedAt: '2026-11-21T10:00:00.000Z',
        nodes: 3,
        signers: null,
      },
    ],
  });
