/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function MePage() {
  return <Page heading="Me" />;
}
