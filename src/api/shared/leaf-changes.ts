/** A parameter that differs between two things that a node gets. */

import { z } from 'zod';

const Source = z
  .object({ scopeTypeName: z.string(), scopeValue: z.string().nullable(), version: z.string() })
  .nullable()
  .meta({ description: 'The file that the value comes from; null where there is no value' });

export const LeafChangeView = z.object({
  path: z.string().meta({ description: 'JSON Pointer; of a composite behind the name of the child' }),
  before: z.unknown(),
  after: z.unknown(),
  beforeSource: Source,
  afterSource: Source,
});

export const LEAF_CHANGE = {
  ...{ path: '/parameters/port', before: 80, after: 8080 },
  beforeSource: { scopeTypeName: 'Default', scopeValue: null, version: '1.0.0' },
  afterSource: { scopeTypeName: 'Environment', scopeValue: 'production', version: '1.1.0' },
};
