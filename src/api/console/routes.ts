/** `/ui/`: the console. It is one page for all of its addresses, and what that page loads. Both hold no secret. */

import { preferredCoding } from '../../http/acceptable.ts';
import { type Answer, redirect } from '../../http/answer.ts';
import { NOT_FOUND } from '../../http/problem-codes.ts';
import { type RequestFacts, type Route, route } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import type { ConsoleFiles, Forms } from './files.ts';

/** The console begins at this address. */
export const CONSOLE = '/ui/';

const COMMON = {
  method: 'GET',
  tags: ['Console'],
  bound: 'shared',
  access: { kind: 'public' },
  // The answer with HAWSER_UI=off, where the routes are not there.
  problems: [NOT_FOUND],
} as const;

const PAGE = {
  description: 'The page',
  mediaType: 'text/html',
  headers: { 'Cache-Control': '`no-cache`', Vary: '`Accept-Encoding`' },
} as const;

const ASSET = {
  description: 'The file. Its name changes with its content, so it may be kept for good',
  mediaType: '*/*',
  headers: { 'Cache-Control': '`public, max-age=31536000, immutable`', Vary: '`Accept-Encoding`' },
} as const;

/** @param files null where the build has none; everything but the ways to the console then answers 404 */
export function consoleRoutes(files: ConsoleFiles | null): Route[] {
  const page = (facts: RequestFacts) => inBestForm(files?.page, facts);
  return [
    route({
      ...COMMON,
      id: 'openConsole',
      path: '/',
      summary: 'The way to the console',
      answers: { 302: { description: 'To /ui/' } },
      handle: () => redirect(CONSOLE),
    }),
    route({
      ...COMMON,
      id: 'showConsole',
      path: '/ui',
      summary: 'The console',
      description: 'Without the slash at its end the address leads to the one with it.',
      answers: { 200: PAGE, 302: { description: 'To /ui/' } },
      handle: ({ facts }) => (facts.path === CONSOLE ? page(facts) : redirect(CONSOLE)),
    }),
    route({
      ...COMMON,
      id: 'showConsolePage',
      path: '/ui/{*pagePath}',
      summary: 'A page of the console',
      description: 'It is the same for all addresses. A script in it shows what the address means.',
      answers: { 200: PAGE },
      handle: ({ facts }) => page(facts),
    }),
    route({
      ...COMMON,
      id: 'getConsoleAsset',
      path: '/ui/assets/{*assetPath}',
      summary: 'A script or a style of the console',
      answers: { 200: ASSET },
      handle: ({ params, facts }) => {
        const name = (params['assetPath'] ?? '').replace(/\/$/, '');
        return inBestForm(files?.assets.get(name), facts);
      },
    }),
  ];
}

function inBestForm(forms: Forms | undefined, facts: RequestFacts): Answer {
  if (forms === undefined) throw notFound('This server has no such part of the console');
  const coding = preferredCoding(facts.header('accept-encoding'), ['br', 'gzip']);
  // A form that would not be smaller is not there.
  return (coding && forms[coding]) ?? forms.plain;
}
