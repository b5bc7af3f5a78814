/**
 * Records what the tests call, for the check that every route and every command of hawserctl is called in the everyday
 * run (scripts/test/coverage.ts). Only calls that did what they should count, because access is refused on every route by
 * one test.
 */

import { subscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';

/** Names the folder in which each process of the tests writes its calls; nothing is recorded without it. */
export const CALLS_FOLDER = 'TESTS_CALLS';

/** What one process has called. */
export interface Calls {
  /** Method and path without the query, such as `GET /api/v1/nodes`, that were answered with a status below 400. */
  requests: string[];
  /** The others. */
  refused: string[];
  /** Words of command lines of hawserctl that ended with 0. */
  commands: string[];
}

const requests = new Set<string>();
const refused = new Set<string>();
const commands = new Set<string>();

export function recordCommand(words: readonly string[]): void {
  commands.add(words.join(' '));
}

const folder = process.env[CALLS_FOLDER];
if (folder !== undefined) {
  subscribe('http.server.response.finish', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const calls = response.statusCode < 400 ? requests : refused;
    calls.add(`${request.method} ${request.url?.replace(/\?.*/s, '')}`);
  });
  process.on('exit', () => {
    const calls: Calls = { requests: [...requests], refused: [...refused], commands: [...commands] };
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(calls));
  });
}
