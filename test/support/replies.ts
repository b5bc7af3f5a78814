/** What a test expects of a reply. */

import { expect } from 'chai';
import type { Client, Reply } from './client.ts';

/** The reply's JSON, if it is any, once its status is the expected one. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
export async function ok(status: number, reply: Promise<Reply> | Reply): Promise<any> {
  const answer = await reply;
  expect(answer.status, answer.text).to.equal(status);
  return /json/.test(String(answer.headers['content-type'])) ? answer.json : undefined;
}

/** What the server answers as the validator of a resource. */
export async function etagOf(client: Client, path: string): Promise<string> {
  const { status, text, headers } = await client.get(path);
  expect(status, text).to.equal(200);
  expect(headers['etag'], path).to.match(/^"[^"]+"$/);
  return String(headers['etag']);
}

/**
 * Checks that a refusal has the form that all have, and shows nothing of the machine that it comes from.
 * @param code the code of the problem; after a colon, the code of the only fault in its `errors`
 */
export async function expectProblem(
  answer: Promise<Reply> | Reply,
  status: number,
  code: string,
  what = '',
): Promise<Reply> {
  const reply = await answer;
  const [named, fault] = code.split(': ');
  expect(`${reply.status} ${codeIn(reply)}`, `${what} ${reply.text}`).to.equal(`${status} ${named}`);
  if (fault !== undefined) expect(reply.json.errors.map(codeOf), what).to.deep.equal([fault]);
  expect(reply.headers['content-type'], what).to.match(/^application\/problem\+json/);
  expect(reply.headers['x-request-id'], what).to.be.a('string');
  expect(reply.json, what).to.include({ status });
  expect(reply.json.type, what).to.be.a('string');
  expect(reply.json.title, what).to.be.a('string');
  expect(reply.json.detail, what).to.be.a('string');
  expect(reply.text, what).to.not.match(
    /hawser-(test|up)|\/(tmp|home|work|src|node_modules)\/|\bat .+:\d+:\d+|\.ts\b/,
  );
  return reply;
}

/** Checks that a request is refused for its form, whose first fault is at this place. */
export async function expectInvalid(
  answer: Promise<Reply> | Reply,
  path?: string,
  what = path,
): Promise<Reply> {
  const reply = await expectProblem(answer, 400, 'validation_failed', what);
  if (path !== undefined) expect(reply.json.errors[0].path, what).to.equal(path);
  return reply;
}

const codeOf = ({ code }: { code: string }) => code;

function codeIn(reply: Reply): string {
  try {
    return String(reply.json.code);
  } catch {
    return 'no JSON';
  }
}
