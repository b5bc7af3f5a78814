/** Serves one page that shows components of the console, with the policy of the console and without its server. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { PROJECT } from '../../scripts/support/project.ts';

/** As the console has it (docs/decisions, console). */
export const CONSOLE_POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:",
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Components</title>
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><link rel="stylesheet" href="/theme.css">
<script type="module" src="/component-harness.js"></script></head>
<body><main><h1>Components</h1><div id="root"></div></main></body></html>`;

export interface ComponentServer {
  base: string;
  /** What is answered to requests below /api/v1, by their path with the query. */
  answers: Map<string, unknown>;
  close(): Promise<void>;
}

const TYPES: Record<string, string> = { js: 'text/javascript', css: 'text/css', html: 'text/html' };

/** Builds the page and serves it on a free port. */
export async function startComponentServer(): Promise<ComponentServer> {
  const files = new Map([['/', PAGE], ...(await buildFiles())]);
  const answers = new Map<string, unknown>();
  const server = createServer((request, response) => {
    const url = request.url ?? '/';
    const answer = answers.get(url.replace(/^\/api\/v1/, ''));
    response.setHeader('Content-Security-Policy', CONSOLE_POLICY);
    if (url.startsWith('/api/') && answer !== undefined) {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(answer));
      return;
    }
    const file = files.get(url);
    response.statusCode = file === undefined ? 404 : 200;
    response.setHeader('Content-Type', `${TYPES[url.split('.')[1] ?? 'html']}; charset=utf-8`);
    response.end(file);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { base: `http://localhost:${port}`, answers, close: () => closeServer(server) };
}

async function buildFiles(): Promise<[string, string][]> {
  const common = { bundle: true, write: false, outdir: '/', absWorkingDir: PROJECT } as const;
  const script = await build({
    ...common,
    entryPoints: [join(PROJECT, 'test/support/component-harness.jsx')],
    ...{ format: 'esm', splitting: true, jsx: 'automatic', jsxImportSource: 'preact' },
  });
  const style = await build({ ...common, entryPoints: [join(PROJECT, 'src/ui/theme.css')] });
  return [
    ...script.outputFiles.map(({ path, text }): [string, string] => [path, text]),
    ...style.outputFiles.map(({ text }): [string, string] => ['/theme.css', text]),
  ];
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
