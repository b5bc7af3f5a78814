import { expect } from 'chai';
import { type ZodType, z } from 'zod';
import type { Route } from '../../../src/http/route.ts';
import { declaredRoutes } from '../../support/routes.ts';

/** What a route takes and answers as JSON, item by item where it is a list. */
function shapesOf({ body, answers }: Route): ZodType[] {
  const views = Object.values(answers).flatMap(({ schema, mediaType }) => (mediaType ? [] : (schema ?? [])));
  const all = body?.kind === 'json' ? [body.schema, ...views] : views;
  return all.map((schema) => (schema instanceof z.ZodArray ? (schema.element as ZodType) : schema));
}

describe('the declarations of the routes', () => {
  let routes: Route[];
  before(async () => {
    routes = await declaredRoutes();
  });

  it('name each operation in lower camel case, and no two alike', () => {
    const ids = routes.map(({ id }) => id);
    expect(ids.filter((id) => !/^[a-z]+(?:[A-Z][a-z]+)*$/.test(id))).to.deep.equal([]);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).to.deep.equal([]);
  });

  it('give each body and each view a name and an example that it accepts', () => {
    // The document that is made of all these has no schema of its own.
    for (const route of routes.filter(({ path }) => path !== '/openapi/v1.json')) {
      for (const schema of shapesOf(route)) {
        const { id, examples } = schema.meta() ?? {};
        expect(id, `${route.id}: the name`).to.be.a('string');
        expect(examples, `${id}: the examples`).to.be.an('array').with.length.above(0);
        for (const example of examples as unknown[]) {
          expect(schema.safeParse(example).error, String(id)).to.equal(undefined);
        }
      }
    }
  });

  it('have no member in an example that the schema does not have', () => {
    for (const schema of routes.flatMap(shapesOf).filter((each) => each instanceof z.ZodObject)) {
      const { id, examples = [] } = schema.meta() ?? {};
      const unknown = (examples as object[]).flatMap((example) =>
        Object.keys(example).filter((name) => !(name in schema.shape)),
      );
      expect(unknown, String(id)).to.deep.equal([]);
    }
  });
});
