/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function CompositePage() {
  return <Page heading="Composite" />;
}
