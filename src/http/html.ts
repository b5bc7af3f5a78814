/** Makes pages for browsers. What is put into them is escaped, and they load and send only what their policy names. */

import type { Answer } from './answer.ts';

/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A template tag. The template is HTML. Values are escaped, except those that `html` has made. */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html)[]): Html {
  const texts = values.map((value) => (value instanceof Html ? value.text : escapeText(value)));
  return new Html(String.raw({ raw: parts }, ...texts));
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export interface Page {
  title: string;
  /** What follows the title. */
  head: Html;
  body: Html;
  /** Directives of Content-Security-Policy that allow something. Everything else is refused. */
  allows: string;
}

export function pageAnswer({ title, head, body, allows }: Page): Answer {
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${head}
</head>
<body>
${body}
</body>
</html>
`;
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `default-src 'none'; ${allows}; base-uri 'none'; frame-ancestors 'none'`,
      // With no-referrer, browsers would send "null" as the origin of a form.
      'Referrer-Policy': 'same-origin',
      'X-Frame-Options': 'DENY',
    },
    body: page.text,
  };
}
