/** `/reference`: the API to read and to try out, by Swagger UI. Development only; nothing comes from elsewhere. */

import type { Answer } from '../../http/answer.ts';
import { html, pageAnswer } from '../../http/html.ts';
import { type Route, route } from '../../http/route.ts';
import { ASSETS, type Asset, readAsset } from './assets.ts';

const PATH = '/reference';
const TAGS = ['Reference'];
const NOT_IN_PRODUCTION = ['not_found'];

export function referenceRoutes(): Route[] {
  return [pageRoute(), ...ASSETS.map(assetRoute)];
}

/** Addresses from the root on: the page is the same with and without a slash at its end. */
const PAGE = pageAnswer({
  title: 'Hawser: API reference',
  head: html`<link rel="icon" href="${PATH}/favicon-32x32.png">
<link rel="stylesheet" href="${PATH}/swagger-ui.css">
<link rel="stylesheet" href="${PATH}/reference.css">
<script src="${PATH}/swagger-ui-bundle.js" defer></script>
<script src="${PATH}/reference.js" defer></script>`,
  body: html`<div id="reference"><noscript>The reference needs JavaScript; the document is at <a href="/openapi/v1.json">/openapi/v1.json</a>.</noscript></div>`,
  allows: "script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'",
});

function pageRoute(): Route {
  return route({
    id: 'showReference',
    method: 'GET',
    path: PATH,
    summary: 'The interactive reference',
    tags: TAGS,
    access: { kind: 'public' },
    answers: { 200: { description: 'The page', mediaType: 'text/html' } },
    problems: NOT_IN_PRODUCTION,
    handle: () => PAGE,
  });
}

function assetRoute(asset: Asset): Route {
  let answer: Promise<Answer> | undefined;
  return route({
    id: asset.id,
    method: 'GET',
    path: `${PATH}/${asset.name}`,
    summary: 'A part of the interactive reference',
    tags: TAGS,
    access: { kind: 'public' },
    answers: { 200: { description: 'The file', mediaType: asset.mediaType } },
    problems: NOT_IN_PRODUCTION,
    handle: () => {
      answer ??= readAsset(asset);
      return answer;
    },
  });
}
