/** What can go wrong between a client and its server. The messages are for people and hold no secret. */

import type { FieldError } from '../lib/errors.ts';

/** The server refused a request, and said why (RFC 9457). */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  /** A refused input has one entry for each fault. */
  readonly errors: readonly FieldError[];
  /** All members of the problem. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(status: number, members: Readonly<Record<string, unknown>>) {
    super(textOf(members['detail']) ?? textOf(members['title']) ?? `The server answered ${status}.`);
    this.name = 'ApiProblem';
    this.status = status;
    this.code = textOf(members['code']) ?? `status_${status}`;
    this.errors = Array.isArray(members['errors']) ? members['errors'] : [];
    this.members = members;
  }
}

/** The server cannot be reached, or is not the trusted one. Nothing was sent. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** The connection broke after the request was sent. Whether the server has done it is not known. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** What answers there does not speak version 1 of the API. */
export class NotHawser extends Error {
  constructor(origin: string) {
    super(`${origin} does not speak version 1 of the API of Hawser.`);
    this.name = 'NotHawser';
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
