/** Shapes of grants. */

import { z } from 'zod';
import type * as deed from '../../deeds/grant.ts';
import type * as onParameters from '../../deeds/grant-on-parameters.ts';
import { choice, Id, IdInAnyCase, Timestamp } from '../../http/schemas.ts';
import { EXAMPLES } from '../shared/principals.ts';

export const PrincipalType = choice('User', 'Group');
export const Level = choice('Read', 'Modify', 'Manage');

/** An example of who holds a grant. */
const HOLDER = { principalType: 'Group', principalId: EXAMPLES.group.id };

const GRANTED = { principalType: PrincipalType, principalId: IdInAnyCase, level: Level };

export const NewGrant = z
  .strictObject(GRANTED)
  .meta({ id: 'NewGrant', examples: [{ ...HOLDER, level: 'Modify' }] }) satisfies z.ZodType<deed.NewGrant>;

const GIVEN = {
  principalType: PrincipalType,
  principalId: Id,
  principalName: z.string().describe('Name of the user or group'),
  level: Level,
  grantedAt: Timestamp,
  grantedByUserId: Id.nullable().describe('Null if that user has been deleted'),
};
const GIVEN_EXAMPLE = {
  ...HOLDER,
  principalName: 'Web team',
  level: 'Modify',
  grantedAt: '2026-11-20T09:08:00.000Z',
  grantedByUserId: '0b1f7c52-6a53-4d0e-9d43-7c1d2f0c9a11',
};

export const Grant = z.object(GIVEN).meta({ id: 'Grant', examples: [GIVEN_EXAMPLE] });

/** An example of the scope of a grant. */
const SCOPE = {
  scopeTypeId: '9e8d7c6b-5a49-4382-9716-05f4e3d2c1b0',
  scopeValueId: '1c2d3e4f-5061-4273-8495-a6b7c8d9e0f1',
};
const OF_VALUE =
  'The id of a value, or of a node for the scope type Node. Null for all of the type, and for Default';

export const NewParameterGrant = z
  .strictObject({
    ...GRANTED,
    scopeTypeId: IdInAnyCase.nullish().meta({ description: 'Null or absent for all parameters' }),
    scopeValueId: IdInAnyCase.nullish().meta({ description: OF_VALUE }),
    restricted: z.boolean().nullish().meta({
      description:
        'Whether the value, or Default, is open to grants on it alone. Null or absent leaves it as it is',
    }),
  })
  .meta({
    id: 'NewParameterGrant',
    examples: [{ ...HOLDER, level: 'Modify', ...SCOPE, restricted: true }],
  }) satisfies z.ZodType<onParameters.NewParameterGrant>;

export const ParameterGrant = z
  .object({
    ...GIVEN,
    scopeTypeId: Id.nullable().meta({ description: 'Null for all parameters' }),
    scopeValueId: Id.nullable().meta({ description: OF_VALUE }),
    restricted: z
      .boolean()
      .meta({ description: 'Whether the value, or Default, is open to grants on it alone' }),
    scopeTypeName: z.string().nullable(),
    scopeValue: z.string().nullable().meta({ description: 'The value, or the name of the node' }),
  })
  .meta({
    id: 'ParameterGrant',
    examples: [
      {
        ...GIVEN_EXAMPLE,
        ...SCOPE,
        ...{ restricted: true, scopeTypeName: 'Environment', scopeValue: 'prod' },
      },
    ],
  });
