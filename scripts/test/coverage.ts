/** Finds the routes and the commands of hawserctl that no test of a run has called with success. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../../src/cli/commands.ts';
import type { Calls } from '../../test/support/calls.ts';
import { PROJECT } from '../support/project.ts';

/** These routes are there to refuse in the words of git: composites take no push, and nothing takes LFS. */
const REFUSING = [
  'POST /git/changes.git/git-receive-pack',
  'POST /git/composites/{name}.git/git-receive-pack',
  'POST /git/configurations/{name}.git/info/lfs/locks/verify',
  'POST /git/configurations/{name}.git/info/lfs/objects/batch',
  'POST /git/parameters/{name}.git/info/lfs/locks/verify',
  'POST /git/parameters/{name}.git/info/lfs/objects/batch',
];

/** @returns a sentence for each that was not called */
export function findUncalled(folder: string): string[] {
  const all = readdirSync(folder).map(
    (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Calls,
  );
  const golden = readFileSync(join(PROJECT, 'test/golden/routes.txt'), 'utf8').trimEnd().split('\n');
  const routes = golden.map((line) => line.replace(/ {2}.*/, ''));
  return [
    ...uncalledRoutes(
      routes.filter((route) => !REFUSING.includes(route)),
      all.flatMap(({ requests }) => requests),
    ),
    ...uncalledRoutes(
      REFUSING,
      all.flatMap(({ refused }) => refused),
    ),
    ...uncalledCommands(
      COMMANDS.map(({ path }) => path),
      all.flatMap(({ commands }) => commands),
    ),
  ];
}

/** @param routes such as `GET /api/v1/nodes/{nodeId}` @param requests such as `GET /api/v1/nodes/7` */
export function uncalledRoutes(routes: readonly string[], requests: readonly string[]): string[] {
  const matchers = routes.map((route) => ({
    route,
    pattern: patternOf(route),
    weight: route.split('{').length,
  }));
  // A request is for the route with the fewest parameters that fits, as in the server.
  matchers.sort((one, other) => one.weight - other.weight);
  const called = new Set(
    requests.map((request) => matchers.find(({ pattern }) => pattern.test(request))?.route),
  );
  return routes.filter((route) => !called.has(route)).map((route) => `no everyday test calls ${route}`);
}

export function uncalledCommands(commands: readonly string[], lines: readonly string[]): string[] {
  return commands
    .filter((command) => !lines.some((line) => `${line} `.startsWith(`${command} `)))
    .map((command) => `no everyday test runs hawserctl ${command}`);
}

function patternOf(route: string): RegExp {
  const escaped = route.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{\\\*\w+\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}$`);
}
