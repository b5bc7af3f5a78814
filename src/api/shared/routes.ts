/**
 * Makers of the routes that most resources have: list, get, create, update, delete, and an action without an answer. Each
 * route is still one datum with its path in full; the makers add what all of a kind share: the method, paging, the
 * status, the Location of what was created, and the transaction of a change. Routes of other kinds use `route` itself.
 *
 *     const roles = permitted(database, ['Roles'], 'roles.manage');
 *     roles.delete('/api/v1/roles/{id}', {
 *       ...operation('deleteRole', 'Delete a role'),
 *       params: idsInPath('id'),
 *       change: (trx, { caller, params }) => deleteRole(trx, caller, params.id),
 *     });
 */

import { z } from 'zod';
import type { Database, Db } from '../../db/database.ts';
import type { Page, PageQuery } from '../../db/rows.ts';
import type { Permission } from '../../domain/permissions.ts';
import { type Answer, created, JSON_LINES, json, noContent, page, pageOfLines } from '../../http/answer.ts';
import { CSV, csvAnswer } from '../../http/csv.ts';
import {
  type AnswerSpec,
  type Input,
  type Method,
  type RequestFacts,
  type Route,
  type RouteSpec,
  route,
} from '../../http/route.ts';
import { Paging } from '../../http/schemas.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import type { Access, Subject } from '../../security/access.ts';
import type { Caller } from '../../security/caller.ts';

/** The caller of a request. */
export function callerOf<P>({ principal, facts }: { principal: P; facts: RequestFacts }) {
  const { actor, requireCurrent } = facts;
  return { principal, actor, ...(requireCurrent && { requireCurrent }) };
}

/** What a handler gets: the parsed request, and the caller in the form that functions which change something take. */
type Call<A extends Access, P, Q, B> = Input<A, P, Q, B> & {
  caller: Omit<Caller, 'principal'> & { principal: Subject<A>['principal'] };
};

/** The members of a declaration that every kind of route has. Beside them `answer` documents the answer of a success. */
type Declared<A extends Access, P, Q, B> = Omit<
  RouteSpec<A, P, Q, B>,
  'method' | 'path' | 'tags' | 'access' | 'answers' | 'handle'
>;

/**
 * What a route does: `change` runs in a transaction that is committed before the answer goes out, `handle` in none.
 * Both return what is answered.
 */
type Work<I, T> =
  | { change(trx: Db, input: I): Promise<T>; handle?: never }
  | { handle(input: I): Awaitable<T>; change?: never };

type PathParams = Record<string, string>;

/** Declares routes of the same tags and the same access. */
export class ResourceRoutes<A extends Access> {
  private readonly database: Database;
  private readonly common: { tags: readonly string[]; access: A };

  constructor(database: Database, common: { tags: readonly string[]; access: A }) {
    this.database = database;
    this.common = common;
  }

  /**
   * GET of a page of rows, each of which `show` turns into what `answer.schema` describes. The query is `Paging`, or a
   * filter that extends it. With `whole` the list is also sent as CSV, with the members of `answer.schema` as columns.
   */
  list<R, P = PathParams, Q extends PageQuery = PageQuery>(
    path: string,
    spec: Declared<A, P, Q, undefined> & {
      answer: AnswerSpec;
      rows(input: Input<A, P, Q, undefined>): Awaitable<Page<R>>;
      /**
       * All rows that match, in the order of the list, whatever `take` and `skip` are. A slice may have some 250 rows;
       * each is read when the client has taken those before it. What `rows` refuses is refused here too, at once.
       */
      whole?(input: Input<A, P, Q, undefined>): Awaitable<AsyncIterable<readonly R[]>>;
      show(row: R, input: Input<A, P, Q, undefined>): unknown;
      /** The page is also sent as JSON lines. */
      asLines?: true;
      /** The query's members for the page behind a row; undefined: the next page is found by `skip`. */
      behind?(row: R, query: Q): Record<string, string> | undefined;
    },
  ): Route {
    const { answer, rows, whole, show, asLines, behind, ...given } = spec;
    const declared = {
      query: Paging,
      ...given,
      ...(whole && { wholeAs: CSV }),
      // A list of which a form is sent whole may be one large answer too many.
      ...((whole || asLines) && { bound: 'user', problems: [...(given.problems ?? []), 'overloaded'] }),
    } as unknown as typeof given;
    const others = [...(whole ? [CSV] : []), ...(asLines ? [JSON_LINES] : [])];
    const alternatives = others.length > 0 && { alternatives: others };
    return this.declare('GET', path, declared, {
      answers: { 200: { ...answer, schema: answer.schema?.array(), ...alternatives } as AnswerSpec },
      async handle(input) {
        const form = others.length > 0 ? input.facts.preferred('application/json', ...others) : null;
        if (whole !== undefined && form === CSV)
          return csvAnswer(
            columnsOf(answer),
            shownSlices(await whole(input), (row) => show(row, input)),
            input.facts.actor.id ?? '',
          );
        const found = await rows(input);
        const items = await Promise.all(found.rows.map((row) => show(row, input)));
        const last = found.rows.at(-1);
        const next = last === undefined ? undefined : behind?.(last, input.query);
        return (form === JSON_LINES ? pageOfLines : page)(items, found.total, { ...input.query, next });
      },
    });
  }

  /** GET of one thing: `handle` returns what is answered as JSON. */
  get<P = PathParams, Q = unknown>(
    path: string,
    spec: Declared<A, P, Q, undefined> & {
      answer: AnswerSpec;
      handle(input: Input<A, P, Q, undefined>): Awaitable<unknown>;
    },
  ): Route {
    const { answer, handle, ...declared } = spec;
    return this.declare('GET', path, declared, {
      answers: { 200: answer },
      handle: async (input) => json(await handle(input)),
    });
  }

  /** POST that answers 201 with what was created. Location is the path of the route and the key of the new thing. */
  create<T, P = PathParams, Q = unknown, B = undefined>(
    path: string,
    spec: Declared<A, P, Q, B> & {
      answer: AnswerSpec;
      /** The last segment of the new thing's address; default: its member `id`. */
      key?(made: T): string;
    } & Work<Call<A, P, Q, B>, T>,
  ): Route {
    const { answer, key, change, handle, ...declared } = spec;
    const work = this.working(spec);
    return this.declare('POST', path, declared as Declared<A, P, Q, B>, {
      answers: { 201: answer },
      async handle(input) {
        const made = await work(input);
        const last = key?.(made) ?? (made as { id: string }).id;
        return created(`${addressOf(path, input)}/${encodeURIComponent(last)}`, made);
      },
    });
  }

  /** PUT, or another method, that answers 200 with what it returns. */
  update<P = PathParams, Q = unknown, B = undefined>(
    path: string,
    spec: Declared<A, P, Q, B> & { method?: Method; answer: AnswerSpec } & Work<Call<A, P, Q, B>, unknown>,
  ): Route {
    const { method = 'PUT', answer, change, handle, ...declared } = spec;
    const work = this.working(spec);
    return this.declare(method, path, declared as Declared<A, P, Q, B>, {
      answers: { 200: answer },
      handle: async (input) => json(await work(input)),
    });
  }

  /** DELETE that answers 204. */
  delete<P = PathParams, Q = unknown, B = undefined>(
    path: string,
    spec: Declared<A, P, Q, B> & { answer?: AnswerSpec } & Work<Call<A, P, Q, B>, unknown>,
  ): Route {
    return this.act<P, Q, B>(path, { method: 'DELETE', answer: { description: 'Deleted' }, ...spec });
  }

  /** A method that answers 204, such as POST of `/unlock`. */
  act<P = PathParams, Q = unknown, B = undefined>(
    path: string,
    spec: Declared<A, P, Q, B> & { method: Method; answer: AnswerSpec } & Work<Call<A, P, Q, B>, unknown>,
  ): Route {
    const { method, answer, change, handle, ...declared } = spec;
    const work = this.working(spec);
    return this.declare(method, path, declared as Declared<A, P, Q, B>, {
      answers: { 204: answer },
      async handle(input) {
        await work(input);
        return noContent();
      },
    });
  }

  /** A route whose handler makes the whole answer, such as a download. */
  own<P = PathParams, Q = unknown, B = undefined>(
    method: Method,
    path: string,
    spec: Declared<A, P, Q, B> & Pick<RouteSpec<A, P, Q, B>, 'answers' | 'handle'>,
  ): Route {
    return route<A, P, Q, B>({ ...this.common, ...spec, method, path });
  }

  private declare<P, Q, B>(
    method: Method,
    path: string,
    declared: Declared<A, P, Q, B>,
    rest: { answers: Record<number, AnswerSpec>; handle(input: Input<A, P, Q, B>): Awaitable<Answer> },
  ): Route {
    return route<A, P, Q, B>({ ...this.common, ...declared, method, path, ...rest });
  }

  private working<P, Q, B, T>(work: Work<Call<A, P, Q, B>, T>): (input: Input<A, P, Q, B>) => Awaitable<T> {
    const { change } = work;
    const call = (input: Input<A, P, Q, B>) => {
      const { principal, facts } = input as { principal: Subject<A>['principal'] } & typeof input;
      return { ...input, caller: callerOf({ principal, facts }) };
    };
    if (change === undefined) return (input) => work.handle(call(input));
    return (input) => this.database.write.transaction().execute((trx) => change(trx, call(input)));
  }
}

/** The names of the members that each item of a list has. */
function columnsOf({ schema }: AnswerSpec): string[] {
  if (!(schema instanceof z.ZodObject)) throw new Error('The items of this list have no members');
  return Object.keys(schema.shape);
}

async function* shownSlices<R>(slices: AsyncIterable<readonly R[]>, show: (row: R) => unknown) {
  for await (const rows of slices) yield (await Promise.all(rows.map(show))) as Record<string, unknown>[];
}

/** Declares routes for callers who hold a permission. */
export function permitted(database: Database, tags: readonly string[], permission: Permission) {
  return new ResourceRoutes(database, { tags, access: { kind: 'permission', permission } });
}

export type PermittedRoutes = ReturnType<typeof permitted>;

/** What the API description calls an operation: its id, which never changes, and one line on what it does. */
export const operation = (id: string, summary: string) => ({ id, summary });

/** The path with the names and ids of this request. A configuration's name stands in it as it is stored. */
function addressOf(
  path: string,
  { params, resource }: { params: unknown; resource?: { name: string } },
): string {
  const values: PathParams = { ...(params as PathParams), ...(resource && { name: resource.name }) };
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}
