/** The console: a program in the browser that shows what the HTTP API gives its user, and does what the API does. */

import { render } from 'preact';
import { App } from './app.tsx';
import { loadPageOf } from './routes.tsx';

loadPageOf(location.pathname);
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
