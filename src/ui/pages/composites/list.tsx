/** Not built yet. */

import { Page } from '../../components/page.tsx';

export function CompositesPage() {
  return <Page heading="Composites" />;
}
