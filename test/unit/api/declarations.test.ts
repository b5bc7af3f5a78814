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

/** The routes that change what nodes get and ask no protection, and why. */
const TAKES_AWAY = 'it takes something away from nodes';
const FREE: Record<string, string> = {
  applyChangeSet: 'it is judged by the protections',
  setNodeLcmConfig: 'nothing protects what an LCM is told',
  updateLcmDefaults: 'the same',
  uploadParameterSchema: 'nodes get the same files; a protection covers files and versions',
  ...{ unassignNodeConfiguration: TAKES_AWAY, withdrawCompositeVersion: TAKES_AWAY },
  ...{ withdrawConfigurationVersion: TAKES_AWAY, withdrawParameterVersion: TAKES_AWAY },
};

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

  it('refuse what is protected wherever a freeze would refuse, or say why that is free', () => {
    const changing = routes.filter(({ changesNodes }) => changesNodes !== undefined);
    const asked = ({ problems = [] }: Route) => problems.flat().includes('change_set_required');
    const unasked = changing.filter((route) => !asked(route)).map(({ id }) => id);
    expect(unasked.sort()).to.deep.equal(Object.keys(FREE).sort());
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
