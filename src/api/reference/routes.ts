/**
 * `/reference`: the API to read and to try out, by Swagger UI. It is there in development only, and loads nothing from
 * elsewhere: its files are the few that it needs of the package swagger-ui-dist, and two of our own.
 */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Answer } from '../../http/answer.ts';
import { html, pageAnswer } from '../../http/html.ts';
import { NOT_FOUND } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { sha256Hex } from '../../lib/hash.ts';

/**
 * Of the ways to authorize, the page offers only tokens: cookies and certificates are sent by the browser itself. A token
 * stays in the memory of the page. No server elsewhere is asked to validate the document.
 */
const START = `const byTokenAlone = (original) => (...given) => {
  const schemes = original(...given);
  return schemes && schemes.filter((scheme) => scheme.has('token'));
};

SwaggerUIBundle({
  url: '/openapi/v1.json',
  dom_id: '#reference',
  deepLinking: true,
  displayOperationId: true,
  displayRequestDuration: true,
  docExpansion: 'none',
  filter: true,
  persistAuthorization: false,
  plugins: [{ statePlugins: { auth: { wrapSelectors: { definitionsToAuthorize: byTokenAlone } } } }],
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const STYLE = `body { margin: 0; background: #fafafa }
noscript { display: block; margin: 2rem; font-family: sans-serif }
`;

interface Asset {
  /** The operation id of its route. */
  id: string;
  path: string;
  mediaType: string;
  /** Absent for a file of the package, whose name is the end of the path. */
  text?: string;
}

const SCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

const ASSETS: readonly Asset[] = [
  { id: 'getReferenceScript', path: '/reference/swagger-ui-bundle.js', mediaType: SCRIPT },
  { id: 'getReferenceStyle', path: '/reference/swagger-ui.css', mediaType: CSS },
  { id: 'getReferenceIcon', path: '/reference/favicon-32x32.png', mediaType: 'image/png' },
  { id: 'getReferenceStart', path: '/reference/reference.js', mediaType: SCRIPT, text: START },
  { id: 'getReferencePageStyle', path: '/reference/reference.css', mediaType: CSS, text: STYLE },
];

/** All addresses are absolute, because the page has an address with and one without a slash at its end. */
const PAGE = pageAnswer({
  title: 'Hawser: API reference',
  head: html`<link rel="icon" href="/reference/favicon-32x32.png">
<link rel="stylesheet" href="/reference/swagger-ui.css">
<link rel="stylesheet" href="/reference/reference.css">
<script src="/reference/swagger-ui-bundle.js" defer></script>
<script src="/reference/reference.js" defer></script>`,
  body: html`<div id="reference"><noscript>The reference needs JavaScript; the document is at <a href="/openapi/v1.json">/openapi/v1.json</a>.</noscript></div>`,
  allows: "script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'",
});

const COMMON = {
  method: 'GET',
  tags: ['Reference'],
  access: { kind: 'public' },
  // The answer in production, where the routes are not there.
  bound: 'shared',
  problems: [NOT_FOUND],
} as const;

export function referenceRoutes(): Route[] {
  const page = route({
    ...COMMON,
    id: 'showReference',
    path: '/reference',
    summary: 'The interactive reference',
    answers: { 200: { description: 'The page', mediaType: 'text/html' } },
    handle: () => PAGE,
  });
  return [page, ...ASSETS.map(assetRoute)];
}

function assetRoute(asset: Asset): Route {
  let answer: Promise<Answer> | undefined;
  return route({
    ...COMMON,
    id: asset.id,
    path: asset.path,
    summary: 'A part of the interactive reference',
    answers: { 200: { description: 'The file', mediaType: asset.mediaType } },
    handle: () => {
      answer ??= readAsset(asset);
      return answer;
    },
  });
}

async function readAsset({ path, mediaType, text }: Asset): Promise<Answer> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const file = join(folder, path.replace('/reference/', ''));
  const body = text === undefined ? await readFile(file) : Buffer.from(text);
  return { status: 200, headers: { 'Content-Type': mediaType }, body, etag: `"${sha256Hex(body)}"` };
}
