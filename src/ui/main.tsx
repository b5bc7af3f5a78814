/** A placeholder of the console's entry. */

import { render } from 'preact';

void import('./home.tsx').then(({ Home }) => {
  render(<Home />, document.querySelector('#app') as HTMLElement);
});
