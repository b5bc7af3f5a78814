/**
 * The parts of the document that operations share: the JSON Schema (2020-12) of every zod schema with an id, and the
 * responses that several operations have.
 */

import { type ZodType, z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/** A schema that transforms has two forms: what a client may send, and what the server answers with. */
type Direction = 'input' | 'output';

export class Components {
  private readonly schemas = new Map<string, JsonSchema>();
  private readonly responses = new Map<string, JsonSchema>();

  /** @throws Error when two different schemas have the same id */
  convert(schema: ZodType, io: Direction): JsonSchema {
    const converted = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: tidy(io) });
    const text = JSON.stringify(converted).replaceAll('"#/$defs/', '"#/components/schemas/');
    const { $schema, $defs = {}, ...own } = JSON.parse(text);
    for (const [id, definition] of Object.entries($defs as Record<string, JsonSchema>)) {
      const known = this.schemas.get(id);
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition)) {
        throw new Error(`Two schemas that differ have the id ${id}`);
      }
      this.schemas.set(id, definition);
    }
    return own;
  }

  /**
   * Keeps a response and returns a reference to it.
   * @param name the same for equal responses, and for no others
   */
  shareResponse(name: string, response: JsonSchema): JsonSchema {
    this.responses.set(name, response);
    return { $ref: `#/components/responses/${name}` };
  }

  /** Both kinds by name, for the document. */
  sorted(): { schemas: JsonSchema; responses: JsonSchema } {
    const sort = (named: ReadonlyMap<string, JsonSchema>) =>
      Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
    return { schemas: sort(this.schemas), responses: sort(this.responses) };
  }
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

/** zod calls this for every schema in a schema, the inner ones first. */
function tidy(io: Direction): Override {
  return ({ zodSchema, jsonSchema }) => {
    publish(jsonSchema);
    // zod adds these to formats and integers. They are long, and the format or type implies them.
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (io === 'output') {
      // Clients must accept members that a later release adds.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      return;
    }
    // zod leaves these out of the input of a schema that transforms. Ours are written in the form that comes in.
    const { def } = zodSchema._zod;
    if (def.type === 'default') jsonSchema.default = def.defaultValue;
    const examples = z.globalRegistry.get(zodSchema)?.['examples'];
    if (examples !== undefined) Object.assign(jsonSchema, { examples });
  };
}

/** A schema of text that stands for another type, such as a number in a query, has that type as `published` in its metadata. */
function publish(jsonSchema: JsonSchema): void {
  const { published, description } = jsonSchema;
  if (published === undefined) return;
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
  Object.assign(jsonSchema, published, description === undefined ? {} : { description });
}
