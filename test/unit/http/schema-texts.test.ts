/** Every request schema of every route says in words of this project what is wrong. None of zod's own texts comes out. */

import { expect } from 'chai';
import { z } from 'zod';
import type { Route } from '../../../src/http/route.ts';
import { validate } from '../../../src/http/validation.ts';
import type { FieldError } from '../../../src/lib/errors.ts';
import { refusalBy } from '../../support/failures.ts';
import { declaredRoutes } from '../../support/routes.ts';

/** Words of the texts in zod's English locale. */
const OF_ZOD = /Invalid|Unrecognized|Too (?:big|small)|\bexpected\b|received|\binput\b|pattern|>=|<=/;

/** What a member may wrongly be: another type, of a bad size, form or spelling. */
const WRONG_VALUES: unknown[] = [
  ...[undefined, null, true, 0, -1, 1.5, 2 ** 40, Number.MAX_VALUE],
  ...['', ' ', '-1', '1.5', 'wrong', 'v1.1.0', '2026-02-30T00:00:00Z', '\0'],
  ...['x'.repeat(5_000), '9'.repeat(15)],
  ...[[], ['wrong'], [1], [null], Array.from({ length: 2_000 }, () => 'x'), {}, { wrong: 1 }],
];

interface RequestSchema {
  where: string;
  schema: z.ZodType;
}

function schemasOf({ method, path, body, query }: Route): RequestSchema[] {
  const where = `${method} ${path}`;
  const found = [];
  if (query) found.push({ where: `${where}, query`, schema: query });
  if (body)
    found.push({ where: `${where}, body`, schema: body.kind === 'jsonBytes' ? body.described : body.schema });
  if (body?.kind === 'upload' && body.json) found.push({ where: `${where}, JSON`, schema: body.json });
  return found;
}

/** The names of the members of an object, by the JSON Schema of its input. */
function membersOf(schema: z.ZodType): string[] {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return Object.keys(properties);
}

function faultsOf(schema: z.ZodType, input: unknown): FieldError[] {
  const refusal = refusalBy(() => validate(schema, input, 'body'));
  if (refusal === null) return [];
  const { message, data } = refusal;
  return [{ path: '', message, code: '' }, ...(data['errors'] as FieldError[])];
}

/** Whole inputs that are wrong, and objects of which one member at a time is. */
function* wrongInputs(schema: z.ZodType): Generator<unknown> {
  yield* WRONG_VALUES;
  yield Buffer.from('wrong');
  for (const member of membersOf(schema)) {
    for (const value of WRONG_VALUES) {
      yield { [member]: value };
      // Members of members, such as the result of a report.
      yield { [member]: { hadErrors: value, results: value } };
    }
  }
}

describe('the texts of faults in requests', () => {
  let schemas: RequestSchema[];
  const codes = new Set<string>();

  before(async () => {
    schemas = (await declaredRoutes()).flatMap(schemasOf);
  });

  it('are our own, for each member of each body and query', () => {
    expect(schemas.length).to.be.greaterThan(60);
    for (const { where, schema } of schemas) {
      for (const input of wrongInputs(schema)) {
        for (const { path, message, code } of faultsOf(schema, input)) {
          codes.add(code);
          expect(message, `${where} ${path} ${code}`).to.not.match(OF_ZOD);
          expect(message.trim(), `${where} ${path} ${code}`).to.not.equal('');
        }
      }
    }
  });

  it('were met in each kind of fault that there is', () => {
    const sizes = ['too_small', 'too_big', 'invalid_format', 'unrecognized_keys'];
    expect([...codes]).to.include.members(['invalid_type', 'invalid_value', ...sizes, 'custom']);
  });

  it('say what is wanted', () => {
    const schema = z.strictObject({
      name: z.string().min(2).max(4),
      count: z.int().min(1).max(100),
      ratio: z.number().positive(),
      mode: z.enum(['A', 'B', 'C']),
      id: z.guid(),
      at: z.iso.datetime(),
      list: z.array(z.string()).min(1).max(1),
      isOn: z.boolean(),
      exactly: z.literal('x'),
    });
    const good = {
      ...{ name: 'xx', count: 1, ratio: 1, mode: 'A', id: '0b0e7a52-93f5-4b3e-9c8d-6d6d7b8a9f10' },
      ...{ at: '2026-11-20T09:08:00Z', list: ['x'], isOn: true, exactly: 'x' },
    };
    const wanted: [change: object, text: string][] = [
      [{ name: undefined }, 'Is required'],
      [{ mode: undefined }, 'Is required'],
      [{ name: 1 }, 'Must be text'],
      [{ name: 'x' }, 'Must have at least 2 characters'],
      [{ name: 'xxxxx' }, 'Must have at most 4 characters'],
      [{ count: 1.5 }, 'Must be a whole number'],
      [{ count: 0 }, 'Must be at least 1'],
      [{ count: 101 }, 'Must be at most 100'],
      [{ ratio: 0 }, 'Must be more than 0'],
      [{ ratio: '1' }, 'Must be a number'],
      [{ mode: 'D' }, 'Must be one of A, B, C'],
      [{ exactly: 'y' }, 'Must be x'],
      [{ id: 'web1' }, 'Must be an id, which is a UUID such as 0b0e7a52-93f5-4b3e-9c8d-6d6d7b8a9f10'],
      [{ at: 'tomorrow' }, 'Must be a time such as 2026-11-20T09:08:00Z'],
      [{ list: [] }, 'Must have at least 1 item'],
      [{ list: 'x' }, 'Must be a list'],
      [{ isOn: 'yes' }, 'Must be true or false'],
      [{ more: 1 }, 'No such member; there are name, count, ratio, mode, id, at, list, isOn, exactly'],
    ];
    for (const [change, text] of wanted) {
      const [, fault] = faultsOf(schema, { ...good, ...change });
      expect(fault?.message, JSON.stringify(change)).to.equal(text);
    }
    expect(faultsOf(schema, [])[1]?.message).to.equal('Must be an object');
  });

  it('tell the first fault in the detail, but no name that a client has made up', () => {
    const schema = z.strictObject({ name: z.string(), count: z.int() });
    expect(faultsOf(schema, {})[0]?.message).to.equal(
      'The body has 2 faults, the first in /name: is required',
    );
    expect(faultsOf(schema, { name: 'x', count: 1, hunter2: 1 })[0]?.message).to.not.contain('hunter2');
  });
});
