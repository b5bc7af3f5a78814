import { readFileSync, writeFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { z } from 'zod';
import { openApiDocument } from '../../../../src/http/openapi/document.ts';
import { type Route, route } from '../../../../src/http/route.ts';
import { readVersion } from '../../../../src/lib/version.ts';
import { DOCUMENT_FILE } from '../../../support/contract.ts';
import { declaredRoutes } from '../../../support/routes.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into the document freely
type Json = any;

describe('the OpenAPI document', () => {
  let routes: Route[];
  let document: Json;

  before(async () => {
    routes = await declaredRoutes();
    document = openApiDocument(routes, readVersion());
  });

  it('is the one in docs/openapi.json', () => {
    const text = `${JSON.stringify(document, null, 2)}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(DOCUMENT_FILE, text);
    const isSame = readFileSync(DOCUMENT_FILE, 'utf8') === text;
    // Not compared as texts, whose difference would fill the screen.
    const advice =
      'docs/openapi.json is of other routes; run again with UPDATE_GOLDEN=1 and review the difference';
    expect(isSame, advice).to.equal(true);
  });

  it('is valid by a stock validator', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect(errors ?? [], JSON.stringify(errors)).to.deep.equal([]);
    expect(valid).to.equal(true);
    expect(validator.version).to.equal('3.1');
  });

  it('has an operation for every route, each with an id of its own', () => {
    const operations = operationsOf(document);
    expect(operations.map(({ address }) => address).sort()).to.deep.equal(
      routes.map(({ method, path }) => `${method} ${path.replace('{*', '{')}`).sort(),
    );
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^[a-z][A-Za-z]+$/);
  });

  it('names every parameter of every path', () => {
    for (const { address, operation } of operationsOf(document)) {
      const named = [...address.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const described = (operation.parameters ?? []).filter((parameter: Json) => parameter.in === 'path');
      expect(
        described.map((parameter: Json) => parameter.name),
        address,
      ).to.deep.equal(named);
    }
  });

  it('has examples that its own schemas take', () => {
    const ajv = new Ajv2020({ strict: false, validateSchema: false, formats: { ...ANY_FORMAT } });
    ajv.addSchema(document, 'hawser');
    const schemas: [string, Json][] = Object.entries(document.components.schemas);
    const withExamples = schemas.filter(([, schema]) => schema.examples !== undefined);
    expect(withExamples).to.have.length.above(20);
    for (const [name, { examples }] of withExamples) {
      const validate = ajv.getSchema(`hawser#/components/schemas/${name}`);
      for (const example of examples) {
        expect(validate?.(example), `${name}: ${ajv.errorsText(validate?.errors)}`).to.equal(true);
      }
    }
  });
});

describe('an operation of the OpenAPI document', () => {
  const spec = {
    id: 'doSomething',
    summary: 'Do something',
    tags: ['Nodes'],
    answers: { 200: { description: 'Done', schema: z.object({ name: z.string() }) } },
    handle: () => ({ status: 200, headers: {}, body: null }),
  };
  const operationOf = (described: Partial<Route> & Pick<Route, 'method' | 'path' | 'access'>): Json => {
    const document: Json = openApiDocument([route({ ...spec, ...described } as never)], '1.0.0');
    const operation: Json = Object.values(Object.values(document.paths)[0] as Json)[0];
    for (const [status, response] of Object.entries(operation.responses as Json)) {
      operation.responses[status] = resolve(document, response);
    }
    return operation;
  };
  const codesOf = (operation: Json, status: number): string[] =>
    Object.values(operation.responses[status].content as Json).flatMap(
      ({ schema }: Json) => schema.properties?.code.enum ?? [],
    );

  it('of a permission tells of 401, 403 and the schemes, and names the permission', () => {
    const access = { kind: 'permission', permission: 'nodes.read' } as const;
    const operation = operationOf({ method: 'GET', path: '/api/v1/things', access });
    expect(operation.security).to.deep.equal([{ token: ['nodes.read'] }, { session: ['nodes.read'] }]);
    expect(operation.description).to.contain('`nodes.read`');
    const ofNodes = ['certificate_revoked', 'certificate_untrusted', 'crl_expired'];
    expect(codesOf(operation, 401)).to.deep.equal([...ofNodes, 'unauthenticated']);
    expect(codesOf(operation, 403)).to.deep.equal(['forbidden', 'password_change_required']);
    expect(operation.responses).to.not.have.property('404');
  });

  it('that changes something takes If-Match and tells of 412 and of requests from another site', () => {
    const access = { kind: 'grant', on: 'configuration', level: 'Modify' } as const;
    const operation = operationOf({ method: 'PUT', path: '/api/v1/things/{name}', access });
    expect(operation.parameters).to.deep.include({ $ref: '#/components/parameters/IfMatch' });
    expect(codesOf(operation, 403)).to.include('cross_site_request');
    expect(codesOf(operation, 404)).to.deep.equal(['not_found']);
    expect(codesOf(operation, 412)).to.deep.equal(['precondition_failed']);
  });

  it('leaves its answers open to members that come later, and shows that a body is closed', () => {
    const body = { kind: 'json', schema: z.strictObject({ name: z.string() }) } as const;
    const operation = operationOf({
      method: 'POST',
      path: '/api/v1/things',
      access: { kind: 'public' },
      body,
    });
    const answer = operation.responses[200].content['application/json'].schema;
    expect(answer).to.deep.equal({
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
    });
    expect(operation.requestBody.content['application/json'].schema.additionalProperties).to.equal(false);
    expect(operation.security).to.deep.equal([]);
  });

  it('refuses what it cannot describe: an unknown tag, an unknown name in a path', () => {
    const access = { kind: 'public' } as const;
    expect(() => operationOf({ method: 'GET', path: '/x', access, tags: ['Nonsense'] })).to.throw('Nonsense');
    expect(() => operationOf({ method: 'GET', path: '/x/{nonsense}', access })).to.throw('nonsense');
  });
});

/** Formats are the business of the replies' check; examples of bodies may spell a time in any zone. */
const ANY_FORMAT = { uuid: true, 'date-time': true, binary: true } as const;

function operationsOf(document: Json): { address: string; operation: Json }[] {
  return Object.entries(document.paths as Json).flatMap(([path, methods]) =>
    Object.entries(methods as Json).map(([method, operation]) => ({
      address: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
}

function resolve(document: Json, schema: Json): Json {
  if (schema.$ref === undefined) return schema;
  const [, , kind, name] = schema.$ref.split('/');
  return document.components[kind][name];
}
