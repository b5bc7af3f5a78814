/** The files of the reference: those few of the package swagger-ui-dist that it needs, and two of our own. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Answer } from '../../http/answer.ts';
import { sha256Hex } from '../../lib/hash.ts';

export interface Asset {
  /** Of its route. */
  id: string;
  /** The file in the package, and the end of the address. */
  name: string;
  mediaType: string;
  /** Absent for what is read from the package. */
  text?: string;
}

/**
 * Of the ways to authorize, a page can use tokens alone: a cookie is the browser's to send, and so is a certificate.
 * A token stays in the memory of the page; no server elsewhere is asked to validate the document.
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

export const ASSETS: readonly Asset[] = [
  { id: 'getReferenceScript', name: 'swagger-ui-bundle.js', mediaType: 'text/javascript; charset=utf-8' },
  { id: 'getReferenceStyle', name: 'swagger-ui.css', mediaType: 'text/css; charset=utf-8' },
  { id: 'getReferenceIcon', name: 'favicon-32x32.png', mediaType: 'image/png' },
  { id: 'getReferenceStart', name: 'reference.js', mediaType: 'text/javascript; charset=utf-8', text: START },
  { id: 'getReferencePageStyle', name: 'reference.css', mediaType: 'text/css; charset=utf-8', text: STYLE },
];

export async function readAsset({ name, mediaType, text }: Asset): Promise<Answer> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const body = text === undefined ? await readFile(join(folder, name)) : Buffer.from(text);
  return { status: 200, headers: { 'Content-Type': mediaType }, body, etag: `"${sha256Hex(body)}"` };
}
