import { expect } from 'chai';
import { html } from '../../../src/http/html.ts';

describe('html', () => {
  it('escapes what is put into a template, in text and in attributes', () => {
    const { text } = html`<a title="${`"><script>'`}">${'a & b < c'}</a>`;
    expect(text).to.equal('<a title="&#34;&#62;&#60;script&#62;&#39;">a &#38; b &#60; c</a>');
  });

  it('takes what another template has made as it is', () => {
    expect(html`<p>${html`<b>${'<'}</b>`}</p>`.text).to.equal('<p><b>&#60;</b></p>');
  });
});
