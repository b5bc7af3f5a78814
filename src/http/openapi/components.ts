/** What operations share: JSON Schema 2020-12 of each zod schema that carries an id, and responses that are alike. */

import { type ZodType, z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/** What a client may send, or what the server answers with: they differ where a schema transforms. */
type Direction = 'input' | 'output';

const FROM_ZOD = '#/$defs/';
export const TO_SCHEMAS = '#/components/schemas/';
const TO_RESPONSES = '#/components/responses/';

export class Components {
  private readonly sharedSchemas = new Map<string, JsonSchema>();
  private readonly sharedResponses = new Map<string, JsonSchema>();

  /** @throws Error when two schemas that differ carry one id */
  convert(schema: ZodType, io: Direction): JsonSchema {
    const converted = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: tidy(io) });
    const { $schema, $defs = {}, ...own } = JSON.parse(JSON.stringify(converted), toComponent);
    for (const [id, definition] of Object.entries($defs as Record<string, JsonSchema>)) {
      this.shareSchema(id, definition);
    }
    return own;
  }

  /** Keeps a schema under this name. */
  shareSchema(id: string, schema: JsonSchema): void {
    const known = this.sharedSchemas.get(id);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas that differ have the id ${id}`);
    }
    this.sharedSchemas.set(id, schema);
  }

  /** Keeps a response under a name that says all of it, and gives the reference to it. */
  shareResponse(name: string, response: JsonSchema): JsonSchema {
    this.sharedResponses.set(name, response);
    return { $ref: `${TO_RESPONSES}${name}` };
  }

  get schemas(): Record<string, JsonSchema> {
    return inOrder(this.sharedSchemas);
  }

  get responses(): Record<string, JsonSchema> {
    return inOrder(this.sharedResponses);
  }
}

function inOrder(named: ReadonlyMap<string, JsonSchema>): Record<string, JsonSchema> {
  return Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function toComponent(key: string, value: unknown): unknown {
  return key === '$ref' ? String(value).replace(FROM_ZOD, TO_SCHEMAS) : value;
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

/** Called by zod for every schema in a schema, inner ones first. */
function tidy(io: Direction): Override {
  return ({ zodSchema, jsonSchema }) => {
    publish(jsonSchema);
    // What zod adds to integers and to formats is implied by them, and long.
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    // Clients must take members that a later release adds.
    if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    if (io === 'input') restore(zodSchema, jsonSchema);
  };
}

/** zod leaves these out where a value is transformed; ours are written as they come in. */
function restore(zodSchema: Parameters<Override>[0]['zodSchema'], jsonSchema: JsonSchema): void {
  const { def } = zodSchema._zod;
  if (def.type === 'default') jsonSchema['default'] = def.defaultValue;
  const examples = z.globalRegistry.get(zodSchema)?.['examples'];
  if (examples !== undefined) jsonSchema['examples'] = examples;
}

/** A schema of text that stands for something else in a query says what, as `published` of its metadata. */
function publish(jsonSchema: JsonSchema): void {
  const { published } = jsonSchema;
  if (published === undefined) return;
  const { description } = jsonSchema;
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
  Object.assign(jsonSchema, published, description === undefined ? {} : { description });
}
